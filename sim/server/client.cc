#include "redouble/sim/server/client.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/client_line.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/resp/reply_encoding.h"
#include "redouble/sim/server/lookahead.h"

namespace redouble::inline v0_1::sim {
namespace {

using memory::SessionCore;
using store::Command;
using store::CommandId;
using store::Reply;

// Larger buffers are freed when they are empty.
constexpr size_t kKeptRoomBytes = 256 * 1024;

bool IsWord(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

// An attacker may make a browser send HTTP requests to the server. Redis closes such connections.
bool IsHttp(std::string_view name) {
  if (name.size() != 4 && name.size() != 5) return false;
  return IsWord(name, "post") || IsWord(name, "host:");
}

// Error texts may contain arbitrary bytes, for example from a script, but must be a single line.
Reply OneLine(const Reply& error) {
  std::string text = error.text();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return Reply::Error(text);
}

// CLIENT REPLY does not stop these: messages, and the confirmations of subscriptions.
bool IsPush(const Reply& reply) { return reply.shape() == Reply::Shape::kPush; }

bool HasLineBreak(const Reply& reply) {
  return reply.is_error() && reply.text().find_first_of("\r\n") != std::string::npos;
}

}  // namespace

Client::Client(memory::Engine& engine, ClientOwner& owner)
    : engine_(engine.core()),
      owner_(owner),
      query_room_(engine_.clock().NowMillis()),
      reply_room_(engine_.clock().NowMillis(), engine_.administration().reply_buffers()),
      session_(engine_.Connect()) {
  session_->set_reply_sink(this);
}

Client::~Client() {
  closing_ = broken_ = true;
  // Destroying the session fails a blocked command, which completes its request.
  session_.reset();
  input_.Free();
  output_.Clear();
  NoteBuffers();
}

size_t Client::input_bytes() const {
  return runs_ ? running_bytes_ : input_.size() - std::min(input_.size(), parser_.parsed_bytes());
}

size_t Client::input_room_bytes() {
  const size_t bytes = input_bytes();
  return query_room_.bytes(engine_.clock().NowMillis(), bytes, parser_.bytes_wanted()) - bytes;
}

const ReplyRoom& Client::reply_room() {
  reply_room_.Look(engine_.clock().NowMillis(), output_.size());
  return reply_room_;
}

void Client::Receive(std::string_view bytes) {
  if (closing_) return;
  NoteInput(bytes.size());
  if (waits_ || !input_.empty()) {
    input_.Room(parser_.bytes_wanted());
    input_.Append(bytes);
    TakeInput();
  } else {
    const size_t used = RunAll(bytes);
    input_.Append(bytes.substr(used));
  }
  NoteBuffers();
}

std::span<char> Client::RoomForInput() {
  if (closing_ || waits_ || input_.empty()) return {};
  return input_.Room(parser_.bytes_wanted());
}

void Client::ReceiveInRoom(size_t count) {
  NoteInput(count);
  input_.Grow(count);
  TakeInput();
  NoteBuffers();
}

void Client::NoteInput(size_t count) {
  const int64_t now_ms = engine_.clock().NowMillis();
  query_room_.OnInput(now_ms, input_.size(), input_.size() + count);
  reply_room_.Look(now_ms, output_.size());
}

void Client::TakeInput() {
  if (input_.size() > engine_.options().server.client_query_buffer_limit_bytes) return Break();
  if (!waits_) RunInput();
}

void Client::RunInput() {
  input_.Consume(RunAll(input_.bytes()));
  if (input_.empty() && input_.capacity() > kKeptRoomBytes) input_.Free();
}

void Client::Continue() {
  resumed_ = false;
  if (!input_.empty()) RunInput();
  NoteBuffers();
}

size_t Client::RunAll(std::string_view bytes) {
  runs_ = true;
  running_bytes_ = bytes.size();
  store::RequestParser::Limits limits;
  limits.longest_bulk_bytes = static_cast<int64_t>(engine_.options().proto_max_bulk_len_bytes);
  Lookahead ahead(bytes);
  size_t used = 0;
  while (!waits_ && !closing_ && used < bytes.size()) {
    limits.unauthenticated = !session_->authenticated();
    const store::RequestParser::Progress progress = parser_.Parse(bytes.substr(used), limits);
    if (progress == store::RequestParser::Progress::kIncomplete) break;
    if (progress == store::RequestParser::Progress::kError) {
      TakeReply(Reply::Error("ERR " + parser_.error()));
      closing_ = true;
      break;
    }
    used += parser_.consumed();
    if (parser_.words().empty()) {
      AdvanceReplyMode();
      if (session_->is_replica()) owner_.OnSignOfLife(*this);
      continue;
    }
    if (parser_.consumed() >= QueryRoom::kLongWordBytes) NoteLongWords();
    const memory::Database& database = engine_.database(session_->db_index());
    if (database.is_large()) ahead.Prefetch(used, database);
    RunOne();
  }
  runs_ = false;
  return closing_ ? bytes.size() : used;
}

void Client::NoteLongWords() {
  for (const std::string_view word : parser_.words()) query_room_.OnWord(word.size());
}

size_t Client::argument_bytes() const {
  size_t bytes = parser_.word_bytes();
  if (!waits_) return bytes;
  bytes += command_->name().size();
  for (const std::string_view argument : command_->arguments()) bytes += argument.size();
  return bytes;
}

void Client::RunOne() {
  const std::vector<std::string_view>& words = parser_.words();
  command_.emplace(Command::Named(words[0]));
  if (command_->id() == CommandId::kUnknown && IsHttp(words[0])) return Break();
  if (std::optional<Reply> reply = owner_.Intercept(*this, command_->id(), words)) {
    TakeReply(*reply);
    return;
  }
  if (closing_) return;
  std::span<const std::string_view> kept = words;
  if (engine_.administration().paused()) {
    kept_words_.assign(words.begin(), words.end());
    kept_views_.assign(kept_words_.begin(), kept_words_.end());
    kept = kept_views_;
    command_.emplace(Command::Named(kept[0]));
  }
  command_->AddAll(kept.subspan(1));
  Submit();
}

void Client::Submit() {
  pending_.emplace(*this);
  waits_ = true;
  session_->Submit(*pending_);
}

void Client::TakeResult(absl::StatusOr<Reply>&& result) {
  waits_ = false;
  stream_offset_ = owner_.stream_offset();
  if (!runs_) resumed_ = true;
  if (result.ok() && !closing_ && !owner_.stopping()) TakeReply(*result);
  if (session_ == nullptr || session_->hangs_up() || session_->disconnected()) closing_ = true;
  if (!runs_ && !broken_) owner_.OnChange(*this);
}

void Client::TakeReply(const Reply& reply) {
  if (session_->has_odd_replies()) {
    if (!session_->TakeUnanswered()) owner_.OnReplyToReplica(*this, command_->id(), reply);
    return;
  }
  const bool lost = std::exchange(loses_reply_, false);
  const bool has_parts = std::exchange(has_parts_, false);
  const SessionCore::ReplyMode mode = AdvanceReplyMode();
  if (session_->has_withheld()) {
    const SessionCore::Withheld withheld = *session_->TakeWithheld();
    if (!has_parts && !lost) return RespondInPart(reply, withheld);
  }
  if (has_parts) return FinishParts();
  if (lost) return;
  if (mode == SessionCore::ReplyMode::kOn || IsPush(reply)) Respond(reply);
}

SessionCore::ReplyMode Client::AdvanceReplyMode() {
  using ReplyMode = SessionCore::ReplyMode;
  const ReplyMode mode = session_->reply_mode();
  if (mode == ReplyMode::kSkipNext) session_->set_reply_mode(ReplyMode::kSkip);
  if (mode == ReplyMode::kSkip) session_->set_reply_mode(ReplyMode::kOn);
  return mode;
}

void Client::RespondInPart(const Reply& reply, const SessionCore::Withheld& withheld) {
  const std::vector<Reply>& elements = reply.elements();
  if (!withheld.head) {
    AppendArrayStart(Reply::Shape::kPlain, elements.size(), protocol(), output_.ToAppend(0));
  }
  for (size_t i = 0; i < elements.size() && !closing_; ++i) {
    const bool is_withheld =
        std::binary_search(withheld.elements.begin(), withheld.elements.end(), i);
    if (!is_withheld || IsPush(elements[i])) Respond(elements[i]);
  }
}

void Client::Respond(const Reply& reply) {
  Append(reply);
  NoteBuffers();
  CheckOutput();
}

// A long array is appended by its elements, which the pieces of the buffer have room for.
void Client::Append(const Reply& reply) {
  constexpr size_t kManyElements = 64;
  if (reply.shape() == Reply::Shape::kPlain && reply.is_array() &&
      reply.elements().size() > kManyElements) {
    AppendArrayStart(reply.shape(), reply.elements().size(), protocol(), output_.ToAppend(32));
    for (const Reply& element : reply.elements()) Append(element);
    return;
  }
  std::string& out = output_.ToAppend(OutputBuffer::SizeOf(reply));
  if (HasLineBreak(reply)) return store::AppendReply(OneLine(reply), protocol(), out);
  store::AppendReply(reply, protocol(), out);
}

void Client::BeginArray(Reply::Shape shape, std::optional<size_t> size) {
  if (!std::exchange(has_parts_, true)) {
    const bool hears = session_->reply_mode() == SessionCore::ReplyMode::kOn;
    takes_parts_ = hears && !loses_reply_ && !closing_ && !owner_.stopping();
  }
  if (!takes_parts_) return;
  OpenArray& array = open_arrays_.emplace_back(OpenArray{shape, std::nullopt});
  if (size) return AppendArrayStart(shape, *size, protocol(), output_.ToAppend(32));
  output_.ToAppend(32);
  array.mark = output_.End();
}

void Client::Add(const Reply& element) {
  if (!takes_parts_ || closing_) return;
  Append(element);
  CheckOutput();
}

void Client::AddBulk(std::string_view text) {
  if (!takes_parts_ || closing_) return;
  store::AppendBulk(text, output_.ToAppend(OutputBuffer::kFrameBytes + text.size()));
  CheckOutput();
}

void Client::EndArray(size_t size) {
  if (!takes_parts_) return;
  const OpenArray array = open_arrays_.back();
  open_arrays_.pop_back();
  if (!array.mark || closing_) return;
  std::string start;
  AppendArrayStart(array.shape, size, protocol(), start);
  output_.Insert(*array.mark, start);
}

void Client::FinishParts() {
  open_arrays_.clear();
  NoteBuffers();
  CheckOutput();
}

void Client::AddPush(const memory::SharedPush& push) {
  // The lines of MONITOR are replies to it.
  const bool hears = session_->reply_mode() == SessionCore::ReplyMode::kOn;
  if (closing_ || !(hears || IsPush(push.reply()))) return;
  Send(push.Encoded(protocol()));
  CheckOutput();
  if (!runs_) owner_.OnChange(*this);
}

bool Client::Overflows(size_t pending_bytes) {
  if (!closing_) CheckOutput(pending_bytes);
  if (broken_) owner_.OnChange(*this);
  return broken_;
}

void Client::Send(std::string_view bytes) {
  output_.ToAppend(bytes.size()).append(bytes);
  NoteBuffers();
}

std::optional<Reply> Client::Suffer(const FaultRule& rule) {
  switch (rule.fault) {
    case Fault::kErrorReply:
      // As a command that the server itself refuses: EXEC will abort.
      session_->RefuseInTransaction();
      return Reply::Error(rule.error);
    case Fault::kDropRequest:
      Break();
      return std::nullopt;
    case Fault::kDropReply:
      loses_reply_ = true;
      session_->HangUp();
      return std::nullopt;
    default:
      assert(false);  // Faults adds only the faults of FaultSite::kServer.
      return std::nullopt;
  }
}

void Client::Refuse(std::string_view line) {
  output_.ToAppend(line.size()).append(line);
  closing_ = true;
}

void Client::Sent(size_t bytes) {
  output_.Consume(bytes);
  NoteBuffers();
}

const memory::OutputBufferLimit& Client::output_limit() const {
  const auto client_class = session_->is_subscribed() ? memory::ClientClass::kPubSub : limit_class_;
  return engine_.options().server.client_output_buffer_limits[static_cast<size_t>(client_class)];
}

// A replica may always get as much as the backlog has, or it could not continue.
size_t Client::LeastHardLimit() const {
  if (limit_class_ != memory::ClientClass::kReplica) return 0;
  return static_cast<size_t>(memory::KeptNumber("repl-backlog-size", engine_.options()));
}

void Client::CheckOutput(size_t pending_bytes) {
  const memory::OutputBufferLimit& limit = output_limit();
  // Redis does not count what fits into the first buffer of a client that is no replica.
  const size_t all_bytes = output_.size() + pending_bytes;
  const size_t first_bytes =
      limit_class_ == memory::ClientClass::kReplica ? 0 : reply_room_.bytes();
  // The rest is in a list, whose nodes have room for so much with Redis's allocator.
  constexpr size_t kNodeBytes = 20 * 1024;
  const size_t list_bytes = all_bytes - std::min(all_bytes, first_bytes);
  const size_t bytes = (list_bytes + kNodeBytes - 1) / kNodeBytes * kNodeBytes;
  if (limit.hard_bytes > 0 && bytes > limit.hard_bytes && bytes > LeastHardLimit()) {
    return BreakOverLimit();
  }
  if (limit.soft_bytes == 0 || bytes <= limit.soft_bytes) {
    over_soft_limit_since_s_.reset();
    return;
  }
  const int64_t now_s = engine_.clock().NowMillis() / 1000;
  if (!over_soft_limit_since_s_) over_soft_limit_since_s_ = now_s;
  if (now_s - *over_soft_limit_since_s_ > limit.soft_seconds) BreakOverLimit();
}

void Client::CheckIdle(int64_t timeout_us) {
  const bool may_idle = session_->blocked() || session_->is_subscribed() ||
                        session_->is_monitor() || session_->is_replica();
  const int64_t idle_us = engine_.clock().NowMicros() - session_->last_used_us();
  if (timeout_us > 0 && !may_idle && idle_us > timeout_us) Break();
  if (output_bytes() > 0) CheckOutput();
}

void Client::BreakOverLimit() {
  Break();
  output_.Clear();
  NoteBuffers();
}

void Client::CountBuffers() {
  // As in Redis, keys are not evicted for what replicas have not read.
  const bool is_replica = session_ != nullptr && memory::IsReplica(engine_, *session_);
  const auto counted = [&](size_t bytes) {
    return bytes < kSmallBufferBytes || is_replica ? 0 : bytes;
  };
  const size_t bytes = counted(input_.size()) + counted(output_.size());
  if (bytes == noted_bytes_) return;
  owner_.OnBuffersChanged(static_cast<int64_t>(bytes) - static_cast<int64_t>(noted_bytes_));
  noted_bytes_ = bytes;
}

}  // namespace redouble::inline v0_1::sim
