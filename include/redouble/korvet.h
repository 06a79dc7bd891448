// Korvet: Kafka topics, producers and consumer groups over Redis Streams.
//
// Includes every header of core/korvet that other programs use. The specification, with the key
// table and the numbered hazards, is docs/systems/korvet.md. The functions take a store::Store& and
// run on the memory engine and on live Redis.
//
// Thread-safety: as the store that is passed.
#ifndef REDOUBLE_KORVET_H_
#define REDOUBLE_KORVET_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/core/korvet/broker/broker.h"
#include "redouble/core/korvet/broker/settings.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/groups/assignment.h"
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/groups/group_admin.h"
#include "redouble/core/korvet/hardening.h"
#include "redouble/core/korvet/key_rules.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/log_record.h"
#include "redouble/core/korvet/log/partition_commands.h"
#include "redouble/core/korvet/log/partitioner.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/log/record.h"
#include "redouble/core/korvet/log/retention.h"
#include "redouble/core/korvet/log/retention_loop.h"
#include "redouble/core/korvet/offset.h"
#include "redouble/core/korvet/topic_name.h"
#include "redouble/core/korvet/topics/topic_config.h"
#include "redouble/core/korvet/topics/topic_id.h"
#include "redouble/core/korvet/topics/topics.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_KORVET_H_
