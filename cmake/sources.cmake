# Written by tools/cmake_sources from the BUILD files. Do not edit.

redouble_generate(
  backends/redis/spawn/held_clock.so
  SOURCES
    backends/redis/spawn/held_clock.c
    backends/redis/spawn/held_clock_page.h
  COMMAND [==[
"$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -shared -I. -o "$OUTPUT" backends/redis/spawn/held_clock.c
]==])

redouble_generate(
  backends/redis/spawn/held_clock_library.cc
  SOURCES
    backends/redis/spawn/held_clock.so
  COMMAND [==[
        {
            echo '#include "redouble/backends/redis/spawn/held_clock_library.h"'
            echo 'namespace redouble::redis {'
            echo 'namespace {'
            echo 'constexpr unsigned char kBytes[] = {'
            od -An -v -tx1 "$GENERATED/backends/redis/spawn/held_clock.so" | sed 's/ \(..\)/0x\1,/g'
            echo '};'
            echo '}  // namespace'
            echo 'std::string HeldClockLibrary() { return std::string(kBytes, kBytes + sizeof(kBytes)); }'
            echo '}  // namespace redouble::redis'
        } > "$OUTPUT"
    
]==])

redouble_generate(
  core/gateway/scripts/script_texts.h
  SOURCES
    core/gateway/scripts/check_and_reserve.lua
    core/gateway/scripts/settle.lua
  COMMAND [==[
    {
        echo '// Generated from the Lua files of //core/gateway/scripts by redouble_scripts.'
        echo '#ifndef REDOUBLE_CORE_GATEWAY_SCRIPTS_SCRIPT_TEXTS_H_'
        echo '#define REDOUBLE_CORE_GATEWAY_SCRIPTS_SCRIPT_TEXTS_H_'
        echo
        echo '#include <string_view>'
        echo
        echo 'namespace redouble::gateway {'
        for file in core/gateway/scripts/check_and_reserve.lua core/gateway/scripts/settle.lua; do
            echo
            name=$(basename $file .lua | sed 's/_\([a-z]\)/\u\1/g; s/^./k\u&/')
            printf 'inline constexpr std::string_view %sText = R"lua(' $name
            cat $file
            echo ')lua";'
        done
        echo
        echo '}  // namespace redouble::gateway'
        echo
        echo '#endif  // REDOUBLE_CORE_GATEWAY_SCRIPTS_SCRIPT_TEXTS_H_'
    } > "$OUTPUT"
]==])

redouble_generate(
  core/korvet/scripts/script_texts.h
  SOURCES
    core/korvet/scripts/add_partitions.lua
    core/korvet/scripts/append_records.lua
    core/korvet/scripts/commit_own_entries.lua
    core/korvet/scripts/create_group.lua
    core/korvet/scripts/repair_topic.lua
  COMMAND [==[
    {
        echo '// Generated from the Lua files of //core/korvet/scripts by redouble_scripts.'
        echo '#ifndef REDOUBLE_CORE_KORVET_SCRIPTS_SCRIPT_TEXTS_H_'
        echo '#define REDOUBLE_CORE_KORVET_SCRIPTS_SCRIPT_TEXTS_H_'
        echo
        echo '#include <string_view>'
        echo
        echo 'namespace redouble::korvet {'
        for file in core/korvet/scripts/add_partitions.lua core/korvet/scripts/append_records.lua core/korvet/scripts/commit_own_entries.lua core/korvet/scripts/create_group.lua core/korvet/scripts/repair_topic.lua; do
            echo
            name=$(basename $file .lua | sed 's/_\([a-z]\)/\u\1/g; s/^./k\u&/')
            printf 'inline constexpr std::string_view %sText = R"lua(' $name
            cat $file
            echo ')lua";'
        done
        echo
        echo '}  // namespace redouble::korvet'
        echo
        echo '#endif  // REDOUBLE_CORE_KORVET_SCRIPTS_SCRIPT_TEXTS_H_'
    } > "$OUTPUT"
]==])

redouble_generate(
  core/orchestrator/scripts/script_texts.h
  SOURCES
    core/orchestrator/scripts/acquire_lease.lua
    core/orchestrator/scripts/apply_delta.lua
    core/orchestrator/scripts/apply_delta_guarded.lua
    core/orchestrator/scripts/cancel_approval.lua
    core/orchestrator/scripts/emit_tokens.lua
    core/orchestrator/scripts/extend_run.lua
    core/orchestrator/scripts/fail_run.lua
    core/orchestrator/scripts/finish_run.lua
    core/orchestrator/scripts/hitl_decide.lua
    core/orchestrator/scripts/hitl_pause.lua
    core/orchestrator/scripts/join_arrive.lua
    core/orchestrator/scripts/join_quiesce.lua
    core/orchestrator/scripts/keep_claim.lua
    core/orchestrator/scripts/patch_ir.lua
    core/orchestrator/scripts/release_lease.lua
    core/orchestrator/scripts/sorted_members.lua
    core/orchestrator/scripts/start_run.lua
  COMMAND [==[
    {
        echo '// Generated from the Lua files of //core/orchestrator/scripts by redouble_scripts.'
        echo '#ifndef REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPT_TEXTS_H_'
        echo '#define REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPT_TEXTS_H_'
        echo
        echo '#include <string_view>'
        echo
        echo 'namespace redouble::orchestrator {'
        for file in core/orchestrator/scripts/acquire_lease.lua core/orchestrator/scripts/apply_delta.lua core/orchestrator/scripts/apply_delta_guarded.lua core/orchestrator/scripts/cancel_approval.lua core/orchestrator/scripts/emit_tokens.lua core/orchestrator/scripts/extend_run.lua core/orchestrator/scripts/fail_run.lua core/orchestrator/scripts/finish_run.lua core/orchestrator/scripts/hitl_decide.lua core/orchestrator/scripts/hitl_pause.lua core/orchestrator/scripts/join_arrive.lua core/orchestrator/scripts/join_quiesce.lua core/orchestrator/scripts/keep_claim.lua core/orchestrator/scripts/patch_ir.lua core/orchestrator/scripts/release_lease.lua core/orchestrator/scripts/sorted_members.lua core/orchestrator/scripts/start_run.lua; do
            echo
            name=$(basename $file .lua | sed 's/_\([a-z]\)/\u\1/g; s/^./k\u&/')
            printf 'inline constexpr std::string_view %sText = R"lua(' $name
            cat $file
            echo ')lua";'
        done
        echo
        echo '}  // namespace redouble::orchestrator'
        echo
        echo '#endif  // REDOUBLE_CORE_ORCHESTRATOR_SCRIPTS_SCRIPT_TEXTS_H_'
    } > "$OUTPUT"
]==])

redouble_generate(
  core/relayna/scripts/script_texts.h
  SOURCES
    core/relayna/scripts/append_once.lua
    core/relayna/scripts/release_replay_lock.lua
    core/relayna/scripts/remove_contract.lua
  COMMAND [==[
    {
        echo '// Generated from the Lua files of //core/relayna/scripts by redouble_scripts.'
        echo '#ifndef REDOUBLE_CORE_RELAYNA_SCRIPTS_SCRIPT_TEXTS_H_'
        echo '#define REDOUBLE_CORE_RELAYNA_SCRIPTS_SCRIPT_TEXTS_H_'
        echo
        echo '#include <string_view>'
        echo
        echo 'namespace redouble::relayna {'
        for file in core/relayna/scripts/append_once.lua core/relayna/scripts/release_replay_lock.lua core/relayna/scripts/remove_contract.lua; do
            echo
            name=$(basename $file .lua | sed 's/_\([a-z]\)/\u\1/g; s/^./k\u&/')
            printf 'inline constexpr std::string_view %sText = R"lua(' $name
            cat $file
            echo ')lua";'
        done
        echo
        echo '}  // namespace redouble::relayna'
        echo
        echo '#endif  // REDOUBLE_CORE_RELAYNA_SCRIPTS_SCRIPT_TEXTS_H_'
    } > "$OUTPUT"
]==])

redouble_generate(
  core/studio/scripts/script_texts.h
  SOURCES
    core/studio/scripts/create_service.lua
    core/studio/scripts/delete_service.lua
    core/studio/scripts/exchange_document.lua
    core/studio/scripts/insert_event.lua
    core/studio/scripts/update_service.lua
  COMMAND [==[
    {
        echo '// Generated from the Lua files of //core/studio/scripts by redouble_scripts.'
        echo '#ifndef REDOUBLE_CORE_STUDIO_SCRIPTS_SCRIPT_TEXTS_H_'
        echo '#define REDOUBLE_CORE_STUDIO_SCRIPTS_SCRIPT_TEXTS_H_'
        echo
        echo '#include <string_view>'
        echo
        echo 'namespace redouble::studio {'
        for file in core/studio/scripts/create_service.lua core/studio/scripts/delete_service.lua core/studio/scripts/exchange_document.lua core/studio/scripts/insert_event.lua core/studio/scripts/update_service.lua; do
            echo
            name=$(basename $file .lua | sed 's/_\([a-z]\)/\u\1/g; s/^./k\u&/')
            printf 'inline constexpr std::string_view %sText = R"lua(' $name
            cat $file
            echo ')lua";'
        done
        echo
        echo '}  // namespace redouble::studio'
        echo
        echo '#endif  // REDOUBLE_CORE_STUDIO_SCRIPTS_SCRIPT_TEXTS_H_'
    } > "$OUTPUT"
]==])

redouble_generate(
  core/threescale/scripts/script_texts.h
  SOURCES
    core/threescale/scripts/count_within_limits.lua
    core/threescale/scripts/publish_event.lua
    core/threescale/scripts/raise_alert.lua
  COMMAND [==[
    {
        echo '// Generated from the Lua files of //core/threescale/scripts by redouble_scripts.'
        echo '#ifndef REDOUBLE_CORE_THREESCALE_SCRIPTS_SCRIPT_TEXTS_H_'
        echo '#define REDOUBLE_CORE_THREESCALE_SCRIPTS_SCRIPT_TEXTS_H_'
        echo
        echo '#include <string_view>'
        echo
        echo 'namespace redouble::threescale {'
        for file in core/threescale/scripts/count_within_limits.lua core/threescale/scripts/publish_event.lua core/threescale/scripts/raise_alert.lua; do
            echo
            name=$(basename $file .lua | sed 's/_\([a-z]\)/\u\1/g; s/^./k\u&/')
            printf 'inline constexpr std::string_view %sText = R"lua(' $name
            cat $file
            echo ')lua";'
        done
        echo
        echo '}  // namespace redouble::threescale'
        echo
        echo '#endif  // REDOUBLE_CORE_THREESCALE_SCRIPTS_SCRIPT_TEXTS_H_'
    } > "$OUTPUT"
]==])

redouble_component(
  store
  SOURCES
    core/base/hash/crc.cc
    core/base/hash/digest.cc
    core/base/json/json_reading.cc
    core/base/random/rng.cc
    core/base/settings/variables.cc
    core/base/task/frame_pool.cc
    core/base/task/resume.cc
    core/base/task/run.cc
    core/base/task/wait_reporter.cc
    core/base/text/glob.cc
    core/base/text/nearest_word.cc
    core/base/text/quoted_words.cc
    core/base/text/redis_number.cc
    core/base/text/server_sent_event.cc
    core/base/text/shortest_decimal.cc
    core/base/text/utf8.cc
    core/base/time/system_clock.cc
    core/base/time/utc.cc
    core/base/time/virtual_clock.cc
    core/python/code_points.cc
    core/python/error.cc
    core/python/float_text.cc
    core/python/iso_time.cc
    core/python/json_reader.cc
    core/python/json_writer.cc
    core/python/model_reader.cc
    core/python/pydantic.cc
    core/python/text.cc
    core/python/value.cc
    core/store/batch.cc
    core/store/command.cc
    core/store/command_line.cc
    core/store/decode.cc
    core/store/errors.cc
    core/store/keyspace/key_family.cc
    core/store/keyspace/key_pattern.cc
    core/store/message_source.cc
    core/store/post.cc
    core/store/pubsub/channel_reader.cc
    core/store/pubsub/pubsub.cc
    core/store/reply.cc
    core/store/resp/command_writer.cc
    core/store/resp/reply_encoding.cc
    core/store/resp/reply_reader.cc
    core/store/resp/request_parser.cc
    core/store/script.cc
    core/store/table/command_details.cc
    core/store/table/command_table.cc
    core/store/table/key_type.cc
    core/store/typed/expiry.cc
    core/store/typed/hashes.cc
    core/store/typed/keys.cc
    core/store/typed/lists.cc
    core/store/typed/sets.cc
    core/store/typed/sorted_sets.cc
    core/store/typed/stream_decode.cc
    core/store/typed/stream_id.cc
    core/store/typed/streams.cc
    core/store/typed/strings.cc
    core/store/wrappers/intercepting_store.cc
  INSTALLED_HEADERS
    core/base/hash/crc.h
    core/base/hash/digest.h
    core/base/json/json_reading.h
    core/base/random/rng.h
    core/base/settings/variables.h
    core/base/status/status_macros.h
    core/base/task/frame_pool.h
    core/base/task/resume.h
    core/base/task/run.h
    core/base/task/task.h
    core/base/text/redis_number.h
    core/base/text/server_sent_event.h
    core/base/text/string_bridge.h
    core/base/time/clock.h
    core/base/time/system_clock.h
    core/base/time/utc.h
    core/base/time/virtual_clock.h
    core/python/value.h
    core/store/batch.h
    core/store/command.h
    core/store/decode.h
    core/store/errors.h
    core/store/keyspace/key_family.h
    core/store/keyspace/key_pattern.h
    core/store/keyspace/key_rules.h
    core/store/message_source.h
    core/store/pubsub/channel_reader.h
    core/store/pubsub/pubsub.h
    core/store/reply.h
    core/store/resp/reply_reader.h
    core/store/script.h
    core/store/store.h
    core/store/table/command_table.h
    core/store/table/command_table.inc
    core/store/table/key_type.h
    core/store/typed/expiry.h
    core/store/typed/hashes.h
    core/store/typed/keys.h
    core/store/typed/lists.h
    core/store/typed/sets.h
    core/store/typed/sorted_sets.h
    core/store/typed/stream_id.h
    core/store/typed/stream_types.h
    core/store/typed/streams.h
    core/store/typed/strings.h
    core/store/wrappers/forwarding_store.h
    core/store/wrappers/intercepting_store.h
    include/redouble/store.h
    include/redouble/version.h
  ABSEIL
    cleanup
    cord
    flat_hash_map
    flat_hash_set
    function_ref
    inlined_vector
    status
    statusor
    str_format
    strings
    time
  PUBLIC_LIBRARIES
    nlohmann_json
  PRIVATE_LIBRARIES
    openssl)

redouble_component(
  gateway
  SOURCES
    core/gateway/admission.cc
    core/gateway/budget.cc
    core/gateway/budget_commands.cc
    core/gateway/control_state.cc
    core/gateway/key_rules.cc
    core/gateway/keys.cc
    core/gateway/rate_limiter.cc
    core/gateway/readiness.cc
    core/gateway/reservation.cc
    core/gateway/rust_float.cc
  GENERATED_HEADERS
    core/gateway/scripts/script_texts.h
  INSTALLED_HEADERS
    core/gateway/admission.h
    core/gateway/budget.h
    core/gateway/control_state.h
    core/gateway/hardening.h
    core/gateway/key_rules.h
    core/gateway/keys.h
    core/gateway/rate_limiter.h
    core/gateway/readiness.h
    core/gateway/reservation.h
    core/gateway/rust_float.h
    include/redouble/gateway.h
  COMPONENTS
    store
  ABSEIL
    cord
    status
    statusor
    strings
    time)

redouble_component(
  korvet
  SOURCES
    core/korvet/errors.cc
    core/korvet/groups/assignment.cc
    core/korvet/groups/consumer.cc
    core/korvet/groups/consumer_group.cc
    core/korvet/groups/coordinator.cc
    core/korvet/groups/group_admin.cc
    core/korvet/key_rules.cc
    core/korvet/keys.cc
    core/korvet/log/append_script.cc
    core/korvet/log/log.cc
    core/korvet/log/partition_commands.cc
    core/korvet/log/partitioner.cc
    core/korvet/log/producer.cc
    core/korvet/log/record.cc
    core/korvet/log/retention.cc
    core/korvet/offset.cc
    core/korvet/topic_name.cc
    core/korvet/topics/topic_config.cc
    core/korvet/topics/topic_id.cc
    core/korvet/topics/topics.cc
  GENERATED_HEADERS
    core/korvet/scripts/script_texts.h
  INSTALLED_HEADERS
    core/korvet/errors.h
    core/korvet/errors.inc
    core/korvet/groups/assignment.h
    core/korvet/groups/consumer.h
    core/korvet/groups/consumer_group.h
    core/korvet/groups/coordinator.h
    core/korvet/groups/group_admin.h
    core/korvet/hardening.h
    core/korvet/key_rules.h
    core/korvet/keys.h
    core/korvet/log/log.h
    core/korvet/log/log_record.h
    core/korvet/log/partition_commands.h
    core/korvet/log/partitioner.h
    core/korvet/log/producer.h
    core/korvet/log/record.h
    core/korvet/log/retention.h
    core/korvet/offset.h
    core/korvet/topic_name.h
    core/korvet/topics/topic_config.h
    core/korvet/topics/topic_id.h
    core/korvet/topics/topics.h
    include/redouble/korvet.h
  COMPONENTS
    store
  ABSEIL
    cord
    flat_hash_map
    status
    statusor
    strings
    time
  PRIVATE_LIBRARIES
    nlohmann_json)

redouble_component(
  memory
  SOURCES
    backends/memory/acl/acl.cc
    backends/memory/acl/acl_file.cc
    backends/memory/acl/acl_user.cc
    backends/memory/acl/key_access.cc
    backends/memory/acl/merged_rules.cc
    backends/memory/acl/selector.cc
    backends/memory/blocking/blocking.cc
    backends/memory/cluster/cluster_view.cc
    backends/memory/commands/block_timeout.cc
    backends/memory/commands/cluster/cluster.cc
    backends/memory/commands/cluster/cluster_topology.cc
    backends/memory/commands/connection/client.cc
    backends/memory/commands/connection/client_list.cc
    backends/memory/commands/connection/client_tracking.cc
    backends/memory/commands/connection/connection.cc
    backends/memory/commands/geo/geo.cc
    backends/memory/commands/geo/geo_arguments.cc
    backends/memory/commands/geo/geo_search.cc
    backends/memory/commands/geo/geohash.cc
    backends/memory/commands/hashes.cc
    backends/memory/commands/keys/dump.cc
    backends/memory/commands/keys/expiry.cc
    backends/memory/commands/keys/keys.cc
    backends/memory/commands/keys/migrate.cc
    backends/memory/commands/keys/object.cc
    backends/memory/commands/keys/scan.cc
    backends/memory/commands/keys/sort.cc
    backends/memory/commands/lazy_free.cc
    backends/memory/commands/lists/blocking_lists.cc
    backends/memory/commands/lists/lists.cc
    backends/memory/commands/pubsub.cc
    backends/memory/commands/random_picks.cc
    backends/memory/commands/scripting/functions.cc
    backends/memory/commands/scripting/script_run.cc
    backends/memory/commands/scripting/scripting.cc
    backends/memory/commands/server/acl.cc
    backends/memory/commands/server/administration.cc
    backends/memory/commands/server/command.cc
    backends/memory/commands/server/command_documents.cc
    backends/memory/commands/server/config.cc
    backends/memory/commands/server/config_parameters.cc
    backends/memory/commands/server/config_rewrite.cc
    backends/memory/commands/server/config_values.cc
    backends/memory/commands/server/dataset_digest.cc
    backends/memory/commands/server/debug.cc
    backends/memory/commands/server/info.cc
    backends/memory/commands/server/info_memory.cc
    backends/memory/commands/server/latency.cc
    backends/memory/commands/server/lolwut.cc
    backends/memory/commands/server/memory.cc
    backends/memory/commands/server/modules.cc
    backends/memory/commands/server/replication.cc
    backends/memory/commands/server/server.cc
    backends/memory/commands/sets.cc
    backends/memory/commands/sorted_sets/sorted_set_operations.cc
    backends/memory/commands/sorted_sets/sorted_set_pops.cc
    backends/memory/commands/sorted_sets/sorted_set_range_commands.cc
    backends/memory/commands/sorted_sets/sorted_set_ranges.cc
    backends/memory/commands/sorted_sets/sorted_sets.cc
    backends/memory/commands/streams/stream_arguments.cc
    backends/memory/commands/streams/stream_groups.cc
    backends/memory/commands/streams/stream_info.cc
    backends/memory/commands/streams/stream_pending.cc
    backends/memory/commands/streams/stream_reads.cc
    backends/memory/commands/streams/stream_replies.cc
    backends/memory/commands/streams/streams.cc
    backends/memory/commands/strings/bit_offset.cc
    backends/memory/commands/strings/bitfield.cc
    backends/memory/commands/strings/bitmaps.cc
    backends/memory/commands/strings/bits.cc
    backends/memory/commands/strings/hyperloglog.cc
    backends/memory/commands/strings/hyperloglog_commands.cc
    backends/memory/commands/strings/lcs.cc
    backends/memory/commands/strings/strings.cc
    backends/memory/commands/transactions.cc
    backends/memory/engine/administration.cc
    backends/memory/engine/argument.cc
    backends/memory/engine/client_line.cc
    backends/memory/engine/command_context.cc
    backends/memory/engine/engine.cc
    backends/memory/engine/engine_core.cc
    backends/memory/engine/invalidation.cc
    backends/memory/engine/permission.cc
    backends/memory/engine/session_core.cc
    backends/memory/eviction/eviction_pool.cc
    backends/memory/eviction/memory_limit.cc
    backends/memory/keyspace/command_accesses.cc
    backends/memory/keyspace/database.cc
    backends/memory/keyspace/expiry_wheel.cc
    backends/memory/keyspace/notifications.cc
    backends/memory/keyspace/tracking.cc
    backends/memory/persistence/dump.cc
    backends/memory/persistence/lzf.cc
    backends/memory/persistence/rdb_codec.cc
    backends/memory/persistence/rdb_value.cc
    backends/memory/persistence/stream_dump.cc
    backends/memory/persistence/ziplist.cc
    backends/memory/pubsub/subscriptions.cc
    backends/memory/scripting/function_interpreter.cc
    backends/memory/scripting/function_libraries.cc
    backends/memory/scripting/interpreter.cc
    backends/memory/scripting/sandbox/guarded_functions.cc
    backends/memory/scripting/sandbox/load_text.cc
    backends/memory/scripting/sandbox/lua_memory.cc
    backends/memory/scripting/sandbox/lua_reply.cc
    backends/memory/scripting/sandbox/msgpack_library.cc
    backends/memory/scripting/sandbox/proxy_table.cc
    backends/memory/scripting/sandbox/redis_library.cc
    backends/memory/scripting/sandbox/run_limit.cc
    backends/memory/scripting/sandbox/sandbox.cc
    backends/memory/scripting/sandbox/struct_library.cc
    backends/memory/scripting/script_cache.cc
    backends/memory/scripting/script_commands.cc
    backends/memory/scripting/script_state.cc
    backends/memory/scripting/shebang.cc
    backends/memory/server/client_memory_limit.cc
    backends/memory/server/config_file.cc
    backends/memory/server/kept_parameters.cc
    backends/memory/server/latency_monitor.cc
    backends/memory/server/memory_size.cc
    backends/memory/server/parameter_value.cc
    backends/memory/server/redaction.cc
    backends/memory/server/slow_log.cc
    backends/memory/server/statistics.cc
    backends/memory/snapshot/file_stream.cc
    backends/memory/snapshot/file_system.cc
    backends/memory/snapshot/load_rdb.cc
    backends/memory/snapshot/module_value.cc
    backends/memory/snapshot/save_rdb.cc
    backends/memory/snapshot/snapshot.cc
    backends/memory/transactions/watching.cc
    backends/memory/values/encodings/byte_block.cc
    backends/memory/values/encodings/intset.cc
    backends/memory/values/encodings/listpack.cc
    backends/memory/values/encodings/listpack_codec.cc
    backends/memory/values/encodings/radix_tree_size.cc
    backends/memory/values/encodings/ranked_sequence.cc
    backends/memory/values/encodings/stream_node.cc
    backends/memory/values/free_effort.cc
    backends/memory/values/hash.cc
    backends/memory/values/list.cc
    backends/memory/values/memory_usage.cc
    backends/memory/values/set.cc
    backends/memory/values/sorted_set.cc
    backends/memory/values/stream.cc
    backends/memory/values/stream_group.cc
    backends/memory/values/value.cc
  INSTALLED_HEADERS
    backends/memory/cluster/cluster_view.h
    backends/memory/engine/engine.h
    backends/memory/engine/session.h
    backends/memory/engine_options.h
    backends/memory/keyspace/access_observer.h
    backends/memory/keyspace/keyspace_event.h
    backends/memory/persistence/byte_stream.h
    backends/memory/server_options.h
    backends/memory/snapshot/file_system.h
    backends/memory/snapshot/load_rdb.h
    backends/memory/snapshot/save_rdb.h
    backends/memory/snapshot/snapshot.h
    backends/memory/values/encoding_limits.h
    include/redouble/memory.h
  COMPONENTS
    store
  ABSEIL
    btree
    flat_hash_map
    flat_hash_set
    function_ref
    hash
    inlined_vector
    status
    statusor
    str_format
    strings
  PRIVATE_LIBRARIES
    lua)

redouble_component(
  orchestrator
  SOURCES
    core/orchestrator/app/engine.cc
    core/orchestrator/app/service.cc
    core/orchestrator/app/settings.cc
    core/orchestrator/approvals/approval_worker.cc
    core/orchestrator/approvals/approvals.cc
    core/orchestrator/document_reader.cc
    core/orchestrator/events/run_event_feed.cc
    core/orchestrator/events/run_events.cc
    core/orchestrator/execution_policy.cc
    core/orchestrator/graph/conditions.cc
    core/orchestrator/graph/expression.cc
    core/orchestrator/graph/ir.cc
    core/orchestrator/graph/patch.cc
    core/orchestrator/graph/routing.cc
    core/orchestrator/key_rules.cc
    core/orchestrator/keys.cc
    core/orchestrator/messages.cc
    core/orchestrator/result_cache.cc
    core/orchestrator/results/file_artifacts.cc
    core/orchestrator/results/file_run_store.cc
    core/orchestrator/results/run_store.cc
    core/orchestrator/run/artifacts.cc
    core/orchestrator/run/coordinator.cc
    core/orchestrator/run/monitor.cc
    core/orchestrator/run/run_scan.cc
    core/orchestrator/run/signal_queue.cc
    core/orchestrator/run/worker.cc
    core/orchestrator/scripts/run_scripts.cc
    core/orchestrator/scripts/scripts.cc
    core/orchestrator/token_ids.cc
  GENERATED_HEADERS
    core/orchestrator/scripts/script_texts.h
  INSTALLED_HEADERS
    core/orchestrator/app/engine.h
    core/orchestrator/app/service.h
    core/orchestrator/app/settings.h
    core/orchestrator/approvals/approval_worker.h
    core/orchestrator/approvals/approvals.h
    core/orchestrator/document_reader.h
    core/orchestrator/events/run_event_feed.h
    core/orchestrator/events/run_events.h
    core/orchestrator/execution_policy.h
    core/orchestrator/graph/conditions.h
    core/orchestrator/graph/ir.h
    core/orchestrator/graph/patch.h
    core/orchestrator/graph/routing.h
    core/orchestrator/hardening.h
    core/orchestrator/key_rules.h
    core/orchestrator/keys.h
    core/orchestrator/messages.h
    core/orchestrator/result_cache.h
    core/orchestrator/results/file_artifacts.h
    core/orchestrator/results/file_run_store.h
    core/orchestrator/results/run_store.h
    core/orchestrator/run/artifacts.h
    core/orchestrator/run/coordinator.h
    core/orchestrator/run/monitor.h
    core/orchestrator/run/signal_queue.h
    core/orchestrator/run/worker.h
    core/orchestrator/scripts/run_scripts.h
    core/orchestrator/scripts/scripts.h
    core/orchestrator/token_ids.h
    include/redouble/orchestrator.h
  COMPONENTS
    store
  ABSEIL
    status
    statusor
    strings
    time
  PRIVATE_LIBRARIES
    nlohmann_json)

redouble_component(
  redis
  SOURCES
    backends/redis/boost_url.cc
    backends/redis/fsm/backoff.cc
    backends/redis/fsm/cluster/cluster_job.cc
    backends/redis/fsm/cluster/cluster_machine.cc
    backends/redis/fsm/cluster/cluster_redirect.cc
    backends/redis/fsm/cluster/cluster_route.cc
    backends/redis/fsm/cluster/command_split.cc
    backends/redis/fsm/cluster/sentinel_machine.cc
    backends/redis/fsm/cluster/slot_map.cc
    backends/redis/fsm/cluster/spelled_transaction.cc
    backends/redis/fsm/command_effect.cc
    backends/redis/fsm/connect_machine.cc
    backends/redis/fsm/connection_machine.cc
    backends/redis/fsm/exec_machine.cc
    backends/redis/fsm/queue_limits.cc
    backends/redis/fsm/run_machine.cc
    backends/redis/fsm/subscribe_machine.cc
    backends/redis/net/asio_clock.cc
    backends/redis/net/blocking_pool.cc
    backends/redis/net/client/client.cc
    backends/redis/net/client/cluster_client.cc
    backends/redis/net/client/node_connections.cc
    backends/redis/net/client/sentinel_client.cc
    backends/redis/net/client/sync_client.cc
    backends/redis/net/client/sync_store.cc
    backends/redis/net/client/sync_submit.cc
    backends/redis/net/connect_race.cc
    backends/redis/net/connection.cc
    backends/redis/net/connector.cc
    backends/redis/net/metrics_text.cc
    backends/redis/net/pool/pool_ledger.cc
    backends/redis/net/pool/sync_pool.cc
    backends/redis/net/subscriber.cc
    backends/redis/net/tls_context.cc
    backends/redis/net/transport.cc
    backends/redis/observe/command_event.cc
    backends/redis/observe/command_latencies.cc
    backends/redis/observe/command_spans.cc
    backends/redis/observe/request_observer.cc
    backends/redis/observe/slow_commands.cc
    backends/redis/option_table.cc
    backends/redis/options.cc
    backends/redis/spawn/ask_server.cc
    backends/redis/spawn/child_process.cc
    backends/redis/spawn/held_clock.cc
    backends/redis/spawn/held_clock_library.cc
    backends/redis/spawn/loopback_port.cc
    backends/redis/spawn/private_folder.cc
    backends/redis/spawn/spawned_cluster.cc
    backends/redis/spawn/spawned_server.cc
  INSTALLED_HEADERS
    backends/redis/fsm/backoff.h
    backends/redis/fsm/cluster/cluster_job.h
    backends/redis/fsm/cluster/cluster_machine.h
    backends/redis/fsm/cluster/cluster_redirect.h
    backends/redis/fsm/cluster/cluster_route.h
    backends/redis/fsm/cluster/command_split.h
    backends/redis/fsm/cluster/sentinel_machine.h
    backends/redis/fsm/cluster/slot_map.h
    backends/redis/fsm/command_effect.h
    backends/redis/fsm/connection_machine.h
    backends/redis/fsm/counters.h
    backends/redis/fsm/queue_limits.h
    backends/redis/fsm/subscribe_machine.h
    backends/redis/net/asio_clock.h
    backends/redis/net/await_task.h
    backends/redis/net/client/client.h
    backends/redis/net/client/cluster_client.h
    backends/redis/net/client/sentinel_client.h
    backends/redis/net/client/sync_client.h
    backends/redis/net/client/sync_store.h
    backends/redis/net/client_hooks.h
    backends/redis/net/metrics_text.h
    backends/redis/net/pool/pool_ledger.h
    backends/redis/net/pool/sync_pool.h
    backends/redis/net/subscriber.h
    backends/redis/observe/command_event.h
    backends/redis/observe/command_latencies.h
    backends/redis/observe/command_spans.h
    backends/redis/observe/request_observer.h
    backends/redis/observe/slow_commands.h
    backends/redis/options.h
    backends/redis/spawn/child_process.h
    backends/redis/spawn/held_clock.h
    backends/redis/spawn/held_clock_page.h
    backends/redis/spawn/loopback_port.h
    backends/redis/spawn/private_folder.h
    backends/redis/spawn/spawned_cluster.h
    backends/redis/spawn/spawned_server.h
    include/redouble/redis.h
    include/redouble/redis_asio.h
  COMPONENTS
    store
  ABSEIL
    cleanup
    flat_hash_map
    function_ref
    inlined_vector
    memory
    status
    statusor
    str_format
    strings
    time
  PUBLIC_LIBRARIES
    boost
  PRIVATE_LIBRARIES
    openssl)

redouble_component(
  relayna
  SOURCES
    core/relayna/append_once.cc
    core/relayna/dlq/dlq_record.cc
    core/relayna/dlq/dlq_replay_service.cc
    core/relayna/dlq/dlq_store.cc
    core/relayna/event_stream.cc
    core/relayna/history.cc
    core/relayna/key_rules.cc
    core/relayna/keys.cc
    core/relayna/observation_store.cc
    core/relayna/service_event_feed.cc
    core/relayna/status_store.cc
    core/relayna/tokens.cc
    core/relayna/workflow_contract_store.cc
  GENERATED_HEADERS
    core/relayna/scripts/script_texts.h
  INSTALLED_HEADERS
    core/relayna/append_once.h
    core/relayna/dlq/dlq_record.h
    core/relayna/dlq/dlq_replay_service.h
    core/relayna/dlq/dlq_store.h
    core/relayna/event_stream.h
    core/relayna/hardening.h
    core/relayna/key_rules.h
    core/relayna/keys.h
    core/relayna/observation_store.h
    core/relayna/service_event_feed.h
    core/relayna/status_store.h
    core/relayna/tokens.h
    core/relayna/workflow_contract_store.h
    include/redouble/relayna.h
  COMPONENTS
    store
  ABSEIL
    btree
    status
    statusor
    strings
    time)

redouble_component(
  sim
  SOURCES
    sim/check/history.cc
    sim/check/linearizability.cc
    sim/check/models.cc
    sim/decision/footprint.cc
    sim/explore/explore.cc
    sim/explore/strategies.cc
    sim/fault/fault.cc
    sim/fault/faulty_store.cc
    sim/inspect/inspect.cc
    sim/inspect/key_inventory.cc
    sim/inspect/report.cc
    sim/inspect/rule_table.cc
    sim/json/bytes.cc
    sim/json/json_diff.cc
    sim/json/json_double.cc
    sim/json/reply_json.cc
    sim/json/strict_json.cc
    sim/operations/arguments.cc
    sim/operations/operation.cc
    sim/operations/python_json.cc
    sim/recording/diff.cc
    sim/recording/html_page.cc
    sim/recording/recording.cc
    sim/scenario/client.cc
    sim/scenario/keyspace.cc
    sim/scenario/memory_backend.cc
    sim/scenario/runner.cc
    sim/scenario/scenario.cc
    sim/trace/trace.cc
    sim/world/connection.cc
    sim/world/faults.cc
    sim/world/journal.cc
    sim/world/world.cc
    sim/world_file/invariant.cc
    sim/world_file/world_experiment.cc
    sim/world_file/world_file.cc
  INSTALLED_HEADERS
    include/redouble/sim.h
    sim/check/history.h
    sim/check/linearizability.h
    sim/decision/decisions.h
    sim/decision/footprint.h
    sim/explore/explore.h
    sim/explore/strategies.h
    sim/fault/fault.h
    sim/fault/faulty_store.h
    sim/json/json.h
    sim/json/json_diff.h
    sim/operations/operation.h
    sim/scenario/backend.h
    sim/scenario/memory_backend.h
    sim/scenario/runner.h
    sim/scenario/scenario.h
    sim/trace/trace.h
    sim/world/connection.h
    sim/world/journal.h
    sim/world/world.h
    sim/world_file/invariant.h
    sim/world_file/world_experiment.h
    sim/world_file/world_file.h
  COMPONENTS
    memory
    store
  ABSEIL
    cord
    flat_hash_set
    status
    statusor
    strings
    time
  PUBLIC_LIBRARIES
    nlohmann_json)

redouble_component(
  studio
  SOURCES
    core/studio/events/event_order.cc
    core/studio/events/event_store.cc
    core/studio/events/event_stream.cc
    core/studio/events/service_event.cc
    core/studio/health/health_document.cc
    core/studio/health/health_service.cc
    core/studio/ingest/ingest_service.cc
    core/studio/ingest/loops.cc
    core/studio/key_rules.cc
    core/studio/keys.cc
    core/studio/registry/capabilities.cc
    core/studio/registry/ip_address.cc
    core/studio/registry/observability_config.cc
    core/studio/registry/registry.cc
    core/studio/registry/registry_store.cc
    core/studio/registry/service_record.cc
    core/studio/registry/url.cc
    core/studio/search/search_document.cc
    core/studio/search/search_index.cc
    core/studio/search/search_store.cc
  GENERATED_HEADERS
    core/studio/scripts/script_texts.h
  INSTALLED_HEADERS
    core/studio/events/event_order.h
    core/studio/events/event_store.h
    core/studio/events/event_stream.h
    core/studio/events/service_event.h
    core/studio/hardening.h
    core/studio/health/health_document.h
    core/studio/health/health_service.h
    core/studio/ingest/ingest_service.h
    core/studio/ingest/loops.h
    core/studio/keys.h
    core/studio/registry/capabilities.h
    core/studio/registry/ip_address.h
    core/studio/registry/observability_config.h
    core/studio/registry/registry.h
    core/studio/registry/registry_store.h
    core/studio/registry/service_record.h
    core/studio/registry/url.h
    core/studio/search/search_document.h
    core/studio/search/search_index.h
    core/studio/search/search_store.h
    include/redouble/studio.h
  COMPONENTS
    store
  ABSEIL
    status
    statusor
    strings
    time)

redouble_component(
  threescale
  SOURCES
    core/threescale/authorize/auth_request.cc
    core/threescale/authorize/authorizer.cc
    core/threescale/authorize/authorizer_reports.cc
    core/threescale/authorize/counters.cc
    core/threescale/authorize/limit_check.cc
    core/threescale/authorize/limit_usage.cc
    core/threescale/authorize/metric_usage.cc
    core/threescale/errors.cc
    core/threescale/key_families.cc
    core/threescale/key_rules.cc
    core/threescale/keys.cc
    core/threescale/memoizer.cc
    core/threescale/model/alert_limit.cc
    core/threescale/model/application.cc
    core/threescale/model/job_queue.cc
    core/threescale/model/metric.cc
    core/threescale/model/referrer.cc
    core/threescale/model/requests.cc
    core/threescale/model/service.cc
    core/threescale/model/service_token.cc
    core/threescale/model/usage.cc
    core/threescale/model/usage_limit.cc
    core/threescale/notify/alerts.cc
    core/threescale/notify/events.cc
    core/threescale/notify/notifier.cc
    core/threescale/report/aggregator.cc
    core/threescale/report/error_log.cc
    core/threescale/report/listener.cc
    core/threescale/report/reporter.cc
    core/threescale/report/stats_cleaner.cc
    core/threescale/report/worker.cc
    core/threescale/text/date_text.cc
    core/threescale/text/integer.cc
    core/threescale/text/json_text.cc
    core/threescale/text/periods.cc
    core/threescale/text/time_zone.cc
    core/threescale/text/timestamp.cc
  GENERATED_HEADERS
    core/threescale/scripts/script_texts.h
  INSTALLED_HEADERS
    core/threescale/authorize/auth_request.h
    core/threescale/authorize/authorizer.h
    core/threescale/authorize/counters.h
    core/threescale/authorize/limit_usage.h
    core/threescale/authorize/metric_usage.h
    core/threescale/errors.h
    core/threescale/errors.inc
    core/threescale/hardening.h
    core/threescale/keys.h
    core/threescale/memoizer.h
    core/threescale/model/alert_limit.h
    core/threescale/model/application.h
    core/threescale/model/job_queue.h
    core/threescale/model/metric.h
    core/threescale/model/referrer.h
    core/threescale/model/requests.h
    core/threescale/model/service.h
    core/threescale/model/service_token.h
    core/threescale/model/usage.h
    core/threescale/model/usage_limit.h
    core/threescale/notify/alerts.h
    core/threescale/notify/events.h
    core/threescale/notify/notifier.h
    core/threescale/process.h
    core/threescale/report/aggregator.h
    core/threescale/report/error_log.h
    core/threescale/report/listener.h
    core/threescale/report/reporter.h
    core/threescale/report/stats_cleaner.h
    core/threescale/report/worker.h
    core/threescale/text/integer.h
    core/threescale/text/json_text.h
    core/threescale/text/periods.h
    core/threescale/text/timestamp.h
    include/redouble/threescale.h
  COMPONENTS
    store
  ABSEIL
    cord
    status
    statusor
    strings
    time
  PUBLIC_LIBRARIES
    boost
  PRIVATE_LIBRARIES
    nlohmann_json)

redouble_component(
  program
  SOURCES
    sim/cli/explore/catalogue.cc
    sim/cli/explore/explore.cc
    sim/cli/explore/trace.cc
    sim/cli/help.cc
    sim/cli/inspect.cc
    sim/cli/keys.cc
    sim/cli/program.cc
    sim/cli/record/monitor_line.cc
    sim/cli/record/monitor_stream.cc
    sim/cli/record/record.cc
    sim/cli/record/scenario_writer.cc
    sim/cli/replay/live_backend.cc
    sim/cli/replay/replay.cc
    sim/cli/replay/replay_world.cc
    sim/cli/replay/time_travel.cc
    sim/cli/serve/configuration.cc
    sim/cli/serve/redis_server.cc
    sim/cli/serve/serve.cc
    sim/cli/serve/start.cc
    sim/cli/subcommands.cc
    sim/cli/support/processes.cc
    sim/cli/support/scenario_files.cc
    sim/cli/support/systems.cc
    sim/operations/gateway/gateway_operations.cc
    sim/operations/korvet/korvet_arguments.cc
    sim/operations/korvet/korvet_group_operations.cc
    sim/operations/korvet/korvet_log_operations.cc
    sim/operations/korvet/korvet_operations.cc
    sim/operations/orchestrator/orchestrator_operations.cc
    sim/operations/relayna/relayna_operations.cc
    sim/operations/studio/studio_operations.cc
    sim/operations/studio/studio_parts.cc
    sim/operations/studio/studio_search_operations.cc
    sim/operations/threescale/threescale_application_operations.cc
    sim/operations/threescale/threescale_auth_operations.cc
    sim/operations/threescale/threescale_jobs.cc
    sim/operations/threescale/threescale_metric_operations.cc
    sim/operations/threescale/threescale_operations.cc
    sim/operations/threescale/threescale_reporting_operations.cc
    sim/operations/threescale/threescale_session.cc
    sim/server/client.cc
    sim/server/faults.cc
    sim/server/listener.cc
    sim/server/log.cc
    sim/server/process/descriptor_limit.cc
    sim/server/process/poller.cc
    sim/server/process/process_figures.cc
    sim/server/process/text_file.cc
    sim/server/process/tick_clock.cc
    sim/server/rdb_key_file.cc
    sim/server/server.cc
    sim/server/sim_commands.cc
    sim/server/snapshot.cc
  MAIN
    sim/cli/main.cc
  COMPONENTS
    gateway
    korvet
    memory
    orchestrator
    redis
    relayna
    sim
    store
    studio
    threescale
  ABSEIL
    cleanup
    status
    statusor
    str_format
    strings
    time
  PRIVATE_LIBRARIES
    boost
    cli11
    nlohmann_json)

redouble_component(
  rapidcheck
  SOURCES
    sim/testing/generators.cc
  INSTALLED_HEADERS
    include/redouble/rapidcheck.h
    sim/testing/generators.h
  COMPONENTS
    store
  PUBLIC_LIBRARIES
    rapidcheck)

redouble_component(
  testing
  SOURCES
    backends/redis/spawn/certificates_for_test.cc
    backends/testing/backends.cc
    backends/testing/live_server.cc
    sim/testing/explore.cc
    sim/testing/matchers.cc
    sim/testing/redis.cc
  INSTALLED_HEADERS
    backends/testing/backends.h
    core/base/status/status_matchers.h
    include/redouble/testing.h
    sim/testing/explore.h
    sim/testing/matchers.h
    sim/testing/redis.h
  COMPONENTS
    memory
    redis
    sim
    store
  ABSEIL
    status
    statusor
    strings
    time
  PUBLIC_LIBRARIES
    com_google_googletest
  PRIVATE_LIBRARIES
    openssl)
