#include "redouble/core/korvet/topics/topic_config.h"

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

template <typename T>
struct Word {
  T value;
  std::string_view text;
};

constexpr std::array<Word<Compression>, 5> kCompressions = {{
    {Compression::kNone, "none"},
    {Compression::kGzip, "gzip"},
    {Compression::kSnappy, "snappy"},
    {Compression::kLz4, "lz4"},
    {Compression::kZstd, "zstd"},
}};

constexpr std::array<Word<ValueType>, 2> kValueTypes = {{
    {ValueType::kJson, "JSON"},
    {ValueType::kBytes, "BYTES"},
}};

template <typename Words, typename T>
bool ReadWord(const Words& words, std::string_view text, T& value) {
  for (const auto& word : words) {
    if (word.text != text) continue;
    value = word.value;
    return true;
  }
  return false;
}

template <typename Words, typename T>
std::string TextOf(const Words& words, T value) {
  for (const auto& word : words) {
    if (word.value == value) return std::string(word.text);
  }
  return {};
}

bool ReadInteger(std::string_view text, int64_t least, int64_t& value) {
  const std::optional<int64_t> number = base::ParseInt64(text);
  if (!number || *number < least) return false;
  value = *number;
  return true;
}

bool ReadSequenceBits(std::string_view text, OffsetCodec& offsets) {
  const std::optional<int64_t> bits = base::ParseInt64(text);
  if (!bits) return false;
  const absl::StatusOr<OffsetCodec> codec = OffsetCodec::Create(*bits);
  if (codec.ok()) offsets = *codec;
  return codec.ok();
}

// One row of the table in the header. `read` changes the config and returns whether the text is a
// legal value of the option. `write` returns nullopt for an option that is not known yet.
struct Option {
  std::string_view field;
  std::string_view kafka_name;
  bool can_change;
  std::string_view values;
  bool (*read)(std::string_view text, TopicConfig& config);
  std::optional<std::string> (*write)(const TopicConfig& config);
};

using Text = std::optional<std::string>;

constexpr std::array kOptions = {
    Option{"retentionTime", "retention.ms", true, "an integer from -1 up",
           [](std::string_view text, TopicConfig& config) {
             return ReadInteger(text, -1, config.retention_time_ms);
           },
           [](const TopicConfig& config) -> Text {
             return base::FormatInt64(config.retention_time_ms);
           }},
    Option{"retentionBytes", "retention.bytes", true, "an integer from -1 up",
           [](std::string_view text, TopicConfig& config) {
             return ReadInteger(text, -1, config.retention_bytes);
           },
           [](const TopicConfig& config) -> Text {
             return base::FormatInt64(config.retention_bytes);
           }},
    Option{"compression", "compression.type", true, "none, gzip, snappy, lz4 or zstd",
           [](std::string_view text, TopicConfig& config) {
             return ReadWord(kCompressions, text, config.compression);
           },
           [](const TopicConfig& config) -> Text {
             return TextOf(kCompressions, config.compression);
           }},
    Option{"valueType", "", false, "JSON or BYTES",
           [](std::string_view text, TopicConfig& config) {
             return ReadWord(kValueTypes, text, config.value_type);
           },
           [](const TopicConfig& config) -> Text {
             if (!config.value_type) return std::nullopt;
             return std::string(ValueTypeName(*config.value_type));
           }},
    Option{"offsetSequenceBits", "", false, "an integer from 10 to 16",
           [](std::string_view text, TopicConfig& config) {
             return ReadSequenceBits(text, config.offsets);
           },
           [](const TopicConfig& config) -> Text {
             return base::FormatInt64(config.offsets.sequence_bits());
           }},
    Option{
        "messageBytes", "", true, "an integer from 1 up",
        [](std::string_view text, TopicConfig& config) {
          return ReadInteger(text, 1, config.message_bytes);
        },
        [](const TopicConfig& config) -> Text { return base::FormatInt64(config.message_bytes); }},
};

const Option* FindField(std::string_view field) {
  for (const Option& option : kOptions) {
    if (option.field == field) return &option;
  }
  return nullptr;
}

const Option* FindByEitherName(std::string_view name) {
  for (const Option& option : kOptions) {
    if (!name.empty() && option.kafka_name == name) return &option;
  }
  return FindField(name);
}

std::string Unfit(const Option& option, std::string_view value) {
  return absl::StrCat(base::ToAbsl(option.field), " is \"", absl::CEscape(base::ToAbsl(value)),
                      "\", not ", base::ToAbsl(option.values));
}

// Applies `entry` to `config` and returns its option.
absl::StatusOr<const Option*> Apply(const ConfigEntry& entry, TopicConfig& config) {
  const Option* option = FindByEitherName(entry.name);
  if (option == nullptr) {
    return MakeError(
        ErrorCode::kInvalidConfig,
        absl::StrCat("a topic has no option \"", absl::CEscape(base::ToAbsl(entry.name)), "\""));
  }
  if (!option->read(entry.value, config)) {
    return MakeError(ErrorCode::kInvalidConfig, Unfit(*option, entry.value));
  }
  return option;
}

}  // namespace

std::optional<Compression> FindCompression(std::string_view name) {
  Compression compression;
  if (!ReadWord(kCompressions, name, compression)) return std::nullopt;
  return compression;
}

std::string_view ValueTypeName(ValueType type) {
  for (const auto& word : kValueTypes) {
    if (word.value == type) return word.text;
  }
  return {};
}

std::optional<ValueType> FindValueType(std::string_view name) {
  ValueType type;
  if (!ReadWord(kValueTypes, name, type)) return std::nullopt;
  return type;
}

absl::StatusOr<TopicConfig> ParseTopicConfig(std::span<const ConfigEntry> entries) {
  TopicConfig config;
  for (const ConfigEntry& entry : entries) {
    REDOUBLE_RETURN_IF_ERROR(Apply(entry, config).status());
  }
  return config;
}

absl::StatusOr<std::vector<ConfigField>> ParseConfigChanges(std::span<const ConfigEntry> entries) {
  std::vector<ConfigField> fields;
  for (const ConfigEntry& entry : entries) {
    TopicConfig read;
    REDOUBLE_ASSIGN_OR_RETURN(const Option* const option, Apply(entry, read));
    if (!option->can_change) {
      return MakeError(
          ErrorCode::kInvalidConfig,
          absl::StrCat(base::ToAbsl(option->field), " of a topic that exists cannot change"));
    }
    fields.emplace_back(option->field, entry.value);
  }
  return fields;
}

absl::StatusOr<TopicConfig> ReadTopicConfig(std::span<const ConfigField> fields) {
  TopicConfig config;
  for (const auto& [field, value] : fields) {
    const Option* option = FindField(field);
    if (option != nullptr && !option->read(value, config)) {
      return MakeError(ErrorCode::kUnknownServerError, Unfit(*option, value));
    }
  }
  return config;
}

std::vector<ConfigField> FormatTopicConfig(const TopicConfig& config) {
  std::vector<ConfigField> fields;
  for (const Option& option : kOptions) {
    if (Text text = option.write(config)) fields.emplace_back(option.field, *std::move(text));
  }
  return fields;
}

}  // namespace redouble::inline v0_1::korvet
