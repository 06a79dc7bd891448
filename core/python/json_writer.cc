#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/python/code_points.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/float_text.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::python {
namespace {

using Foreign = PyJsonOptions::Foreign;

constexpr char kHexDigits[] = "0123456789abcdef";

void AppendUnicodeEscape(std::string& out, uint32_t unit) {
  out += "\\u";
  for (const int shift : {12, 8, 4, 0}) out.push_back(kHexDigits[(unit >> shift) & 0xF]);
}

// Appends the escape of a byte that both dialects escape; returns false for any other byte.
bool AppendCommonEscape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return true;
    case '\\':
      out += "\\\\";
      return true;
    case '\b':
      out += "\\b";
      return true;
    case '\t':
      out += "\\t";
      return true;
    case '\n':
      out += "\\n";
      return true;
    case '\f':
      out += "\\f";
      return true;
    case '\r':
      out += "\\r";
      return true;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20) return false;
  AppendUnicodeEscape(out, byte);
  return true;
}

void AppendText(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (!AppendCommonEscape(out, c)) out.push_back(c);
  }
  out.push_back('"');
}

// Escapes DEL too, as Python does. Returns false if the text is not a sequence of code points
// (surrogates are allowed).
bool AppendAsciiText(std::string& out, std::string_view text) {
  constexpr unsigned char kDelete = 0x7F;
  out.push_back('"');
  while (!text.empty()) {
    const char c = text.front();
    if (static_cast<unsigned char>(c) < kDelete) {
      if (!AppendCommonEscape(out, c)) out.push_back(c);
      text.remove_prefix(1);
      continue;
    }
    const std::optional<char32_t> code_point = TakeCodePoint(text);
    if (!code_point) return false;
    if (*code_point > 0xFFFF) {
      AppendUnicodeEscape(out, 0xD800 + ((*code_point - 0x10000) >> 10));
      AppendUnicodeEscape(out, 0xDC00 + ((*code_point - 0x10000) & 0x3FF));
    } else {
      AppendUnicodeEscape(out, *code_point);
    }
  }
  out.push_back('"');
  return true;
}

// The differences between the two dialects; Append contains the common part.
class Writer {
 public:
  virtual ~Writer() = default;

  absl::Status Append(const Value& value) {
    if (value.is_null()) {
      out_ += "null";
    } else if (value.boolean() != nullptr) {
      out_ += *value.boolean() ? "true" : "false";
    } else if (value.integer() != nullptr) {
      out_ += value.integer()->digits;
    } else if (value.real() != nullptr) {
      AppendFloat(*value.real());
    } else if (value.text() != nullptr) {
      return AppendTextValue(*value.text());
    } else if (value.array() != nullptr) {
      return AppendArray(*value.array());
    } else if (value.object() != nullptr) {
      return AppendObject(*value.object());
    } else if (value.date_time() != nullptr) {
      return AppendDateTime(*value.date_time());
    } else {
      return AppendOpaque(*value.opaque());
    }
    return absl::OkStatus();
  }

  std::string TakeOut() { return std::move(out_); }

 protected:
  Writer(std::string_view comma, std::string_view colon) : comma_(comma), colon_(colon) {}

  virtual absl::Status AppendTextValue(std::string_view text) = 0;
  virtual void AppendFloat(double value) = 0;
  virtual absl::Status AppendDateTime(const DateTime& time) = 0;
  virtual absl::Status AppendOpaque(const Opaque& opaque) = 0;
  virtual bool sorted() const { return false; }

  std::string out_;

 private:
  absl::Status AppendArray(const Array& array) {
    out_.push_back('[');
    for (size_t i = 0; i < array.size(); ++i) {
      if (i > 0) out_ += comma_;
      REDOUBLE_RETURN_IF_ERROR(Append(array[i]));
    }
    out_.push_back(']');
    return absl::OkStatus();
  }

  absl::Status AppendObject(const Object& object) {
    std::vector<const Object::Member*> members;
    members.reserve(object.size());
    for (const Object::Member& member : object.members()) members.push_back(&member);
    // UTF-8 bytes sort in the order of the code points.
    if (sorted()) {
      std::sort(members.begin(), members.end(),
                [](const auto* a, const auto* b) { return a->name < b->name; });
    }
    out_.push_back('{');
    for (size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out_ += comma_;
      REDOUBLE_RETURN_IF_ERROR(AppendTextValue(members[i]->name));
      out_ += colon_;
      REDOUBLE_RETURN_IF_ERROR(Append(members[i]->value));
    }
    out_.push_back('}');
    return absl::OkStatus();
  }

  const std::string_view comma_;
  const std::string_view colon_;
};

absl::Status NotUtf8() {
  return Error(absl::StatusCode::kInvalidArgument, "UnicodeEncodeError",
               "'utf-8' codec can't encode characters: surrogates not allowed");
}

class PyJsonWriter : public Writer {
 public:
  explicit PyJsonWriter(const PyJsonOptions& options)
      : Writer(options.compact ? "," : ", ", options.compact ? ":" : ": "), options_(options) {}

 private:
  absl::Status AppendTextValue(std::string_view text) override {
    if (options_.ascii) return AppendAsciiText(out_, text) ? absl::OkStatus() : NotUtf8();
    if (!base::IsValidUtf8(text)) return NotUtf8();
    AppendText(out_, text);
    return absl::OkStatus();
  }

  void AppendFloat(double value) override {
    if (std::isnan(value)) {
      out_ += "NaN";
    } else if (std::isinf(value)) {
      out_ += value < 0 ? "-Infinity" : "Infinity";
    } else {
      out_ += FloatRepr(value);
    }
  }

  absl::Status AppendDateTime(const DateTime& time) override {
    switch (options_.date_times) {
      case Foreign::kRefuse:
        return NotSerializable("datetime");
      case Foreign::kIsoOrText:
        return AppendTextValue(FormatIso(time));
      case Foreign::kText:
        return AppendTextValue(FormatIsoWithSpace(time));
    }
    return absl::InternalError("an option that does not exist");
  }

  absl::Status AppendOpaque(const Opaque& opaque) override {
    if (options_.others == Foreign::kRefuse) return NotSerializable(opaque.type);
    return AppendTextValue(opaque.text);
  }

  static absl::Status NotSerializable(std::string_view type) {
    return TypeError("Object of type " + std::string(type) + " is not JSON serializable");
  }

  bool sorted() const override { return options_.sorted; }

  const PyJsonOptions& options_;
};

class PydanticWriter : public Writer {
 public:
  PydanticWriter() : Writer(",", ":") {}

 private:
  absl::Status AppendTextValue(std::string_view text) override {
    if (!base::IsValidUtf8(text)) return Failure("a text is not UTF-8");
    AppendText(out_, text);
    return absl::OkStatus();
  }

  void AppendFloat(double value) override {
    out_ += std::isfinite(value) ? PydanticFloatText(value) : "null";
  }

  absl::Status AppendDateTime(const DateTime& time) override {
    return AppendTextValue(FormatIsoZ(time));
  }

  absl::Status AppendOpaque(const Opaque& opaque) override {
    return Failure("Unable to serialize unknown type: <class '" + opaque.type + "'>");
  }

  static absl::Status Failure(std::string_view message) {
    return Error(absl::StatusCode::kInvalidArgument, "PydanticSerializationError", message);
  }
};

absl::StatusOr<std::string> Write(Writer& writer, const Value& value) {
  REDOUBLE_RETURN_IF_ERROR(writer.Append(value));
  return writer.TakeOut();
}

}  // namespace

absl::StatusOr<std::string> PyJson(const Value& value, const PyJsonOptions& options) {
  PyJsonWriter writer(options);
  return Write(writer, value);
}

absl::StatusOr<std::string> HashOfPyJson(const Value& value, const PyJsonOptions& options) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, PyJson(value, options));
  return base::Sha256Hex(text);
}

absl::StatusOr<std::string> PydanticJson(const Value& value) {
  PydanticWriter writer;
  return Write(writer, value);
}

}  // namespace redouble::inline v0_1::python
