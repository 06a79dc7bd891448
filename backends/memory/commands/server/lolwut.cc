// LOLWUT: generative art and the version.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/error_text.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// Valkey calls itself Redis here.
std::string VersionLine(const CommandContext& context) {
  const store::VersionSpec& version = context.engine().compatibility().spec();
  return absl::StrCat("Redis ver. ", base::ToAbsl(version.version), "\n");
}
constexpr double kPi = 3.14159265358979323846;

// A canvas of dots: one braille character shows two by four.
class DotCanvas {
 public:
  DotCanvas(int width, int height)
      : height_(height),
        columns_((width + 1) / 2),
        lines_((height + 3) / 4),
        dots_(columns_ * lines_) {}

  // Dots outside of the canvas are clipped.
  void DrawLine(double x0, double y0, double x1, double y1) {
    const int steps = static_cast<int>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0))));
    for (int i = 0; i <= steps; ++i) {
      const double part = steps == 0 ? 0 : static_cast<double>(i) / steps;
      Dot(static_cast<int>(std::lround(x0 + (x1 - x0) * part)),
          static_cast<int>(std::lround(y0 + (y1 - y0) * part)));
    }
  }

  std::string Text() const {
    std::string text;
    for (size_t line = 0; line < lines_; ++line) {
      for (size_t column = 0; column < columns_; ++column) {
        const unsigned dots = dots_[line * columns_ + column];
        // U+2800 plus the dots, as UTF-8.
        text += '\xe2';
        text += static_cast<char>(0xa0 | (dots >> 6));
        text += static_cast<char>(0x80 | (dots & 0x3f));
      }
      // Redis omits the line break after a last line of single dots.
      if (line + 1 < lines_ || height_ % 4 != 1) text += '\n';
    }
    return text;
  }

 private:
  void Dot(int x, int y) {
    static constexpr uint8_t kDots[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    if (x < 0 || y < 0) return;
    const auto column = static_cast<size_t>(x / 2);
    const auto line = static_cast<size_t>(y / 4);
    if (column < columns_ && line < lines_) dots_[line * columns_ + column] |= kDots[y % 4][x % 2];
  }

  int height_;
  size_t columns_;
  size_t lines_;
  std::vector<uint8_t> dots_;
};

// Rows of squares; each row is rotated and translated more than the one above.
std::string DrawSquares(base::Rng& rng, int columns, int per_row, int rows) {
  const int width = columns * 2;
  const int margin = width > 4 ? 2 : 0;
  const double side = static_cast<double>(width - margin * 2) / per_row;
  DotCanvas canvas(width, static_cast<int>(side * rows) + margin * 2);
  for (int row = 0; row < rows; ++row) {
    const double disorder = static_cast<double>(row) / rows;
    for (int place = 0; place < per_row; ++place) {
      const auto chance = [&](double most) { return (rng.Unit() * 2 - 1) * most * disorder; };
      const double turn = kPi / 4 + chance(kPi / 4);
      const double x = margin + side * (place + 0.5) + chance(side / 3);
      const double y = margin + side * (row + 0.5) + chance(side / 3);
      const double reach = side / std::sqrt(2.0);
      for (int corner = 0; corner < 4; ++corner) {
        const double from = turn + corner * kPi / 2;
        const double to = from + kPi / 2;
        canvas.DrawLine(x + reach * std::cos(from), y + reach * std::sin(from),
                        x + reach * std::cos(to), y + reach * std::sin(to));
      }
    }
  }
  return canvas.Text();
}

// A skyline at night: towers of random height with lit windows, in four shades of gray.
class Skyline {
 public:
  Skyline(int columns, int rows)
      : columns_(columns), rows_(rows), shades_(static_cast<size_t>(columns) * rows, kSky) {}

  void Build(base::Rng& rng) {
    for (int left = -static_cast<int>(rng.Below(6)); left < columns_;) {
      const int width = static_cast<int>(rng.Between(6, 14));
      const int height = static_cast<int>(rng.Between(rows_ / 5, rows_ * 4 / 5));
      AddTower(rng, left, width, height);
      left += width - static_cast<int>(rng.Below(3));
    }
  }

  std::string Text() const {
    static constexpr std::string_view kColours[] = {
        "\x1b[0;30;40m \x1b[0m", "\x1b[0;90;100m \x1b[0m", "\x1b[0;37;47m \x1b[0m",
        "\x1b[0;97;107m \x1b[0m"};
    std::string text;
    for (int y = 0; y < rows_; ++y) {
      for (int x = 0; x < columns_; ++x) text += kColours[shades_[IndexOf(x, y)]];
      text += '\n';
    }
    return text;
  }

 private:
  enum Shade : uint8_t { kSky, kWall, kEdge, kWindow };

  size_t IndexOf(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(columns_) + static_cast<size_t>(x);
  }

  void Paint(int x, int y, Shade shade) {
    if (x >= 0 && x < columns_ && y >= 0 && y < rows_) shades_[IndexOf(x, y)] = shade;
  }

  void AddTower(base::Rng& rng, int left, int width, int height) {
    const int top = rows_ - height;
    for (int y = top; y < rows_; ++y) {
      for (int x = left; x < left + width; ++x) {
        const bool is_edge = x == left || x == left + width - 1 || y == top;
        const bool is_window = (x - left) % 2 == 0 && (y - top) % 2 == 0 && rng.Chance(0.5);
        Paint(x, y, is_edge ? kEdge : is_window ? kWindow : kWall);
      }
    }
  }

  int columns_;
  int rows_;
  std::vector<Shade> shades_;
};

// Reads numbers into `values`, which contain the defaults, and clamps each to its limit.
std::optional<Reply> ReadSizes(Arguments arguments, std::vector<int64_t>& values,
                               const std::vector<int64_t>& limits) {
  for (size_t i = 0; i < std::min(arguments.size(), values.size()); ++i) {
    const std::optional<int64_t> value = base::ParseInt64(arguments[i]);
    if (!value) return Reply::Error(error_text::kNotAnInteger);
    values[i] = std::clamp<int64_t>(*value, 1, limits[i]);
  }
  return std::nullopt;
}

Reply Squares(CommandContext& context, Arguments arguments) {
  std::vector<int64_t> sizes = {66, 8, 12};
  if (std::optional<Reply> error = ReadSizes(arguments, sizes, {1000, 200, 200})) {
    return *std::move(error);
  }
  std::string text = DrawSquares(context.rng(), static_cast<int>(sizes[0]),
                                 static_cast<int>(sizes[1]), static_cast<int>(sizes[2]));
  text += "\nGeorg Nees - schotter, plotter on paper, 1968. ";
  text += VersionLine(context);
  return Reply::Verbatim(std::move(text));
}

Reply Town(CommandContext& context, Arguments arguments) {
  std::vector<int64_t> sizes = {80, 20};
  if (std::optional<Reply> error = ReadSizes(arguments, sizes, {1000, 1000})) {
    return *std::move(error);
  }
  Skyline skyline(static_cast<int>(sizes[0]), static_cast<int>(sizes[1]));
  skyline.Build(context.rng());
  std::string text = skyline.Text();
  text += "Dedicated to the 8 bit game developers of past and present.\n";
  text += "Original 8 bit image from Plaguemon by hikikomori. ";
  text += VersionLine(context);
  return Reply::Verbatim(std::move(text));
}

}  // namespace

// Redis 7 has no picture of its own.
Reply HandleLolWut(CommandContext& context, Arguments arguments) {
  int64_t version = 7;
  if (arguments.size() >= 2 && IsWord(arguments[0], "VERSION")) {
    const std::optional<int64_t> asked = base::ParseInt64(arguments[1]);
    if (!asked) return Reply::Error(error_text::kNotAnInteger);
    version = *asked;
    arguments = arguments.subspan(2);
  }
  if (version == 5) return Squares(context, arguments);
  if (version == 6) return Town(context, arguments);
  return Reply::Verbatim(VersionLine(context));
}

}  // namespace redouble::inline v0_1::memory
