require_relative "sequences"

module Recorder
  # Sequences in which services are marked, statistics are deleted and providers change their keys, beside traffic.
  class Cleaning < Sequence
    KINDS = { report: 20, authrep: 12, authorize: 8, run_jobs: 22, aggregate: 10, mark: 10, delete_statistics: 8, delete_zeros: 5,
              foreign_counter: 5, change_provider_key: 8, service: 6, delete_service: 3, look_at_provider: 5, application: 3,
              expiry: 1 }.freeze
    KEYS = ["pkey", "other key", "new key", "newest/key"].freeze
    # Counters that other programs or releases wrote. The original fails on some of them, which are in few sequences.
    FOREIGN = ["stats/{service:2}/cinstance:a/uinstance:N/A/metric:6/eternity", "stats/{service:2}/city:/country:/metric:6/eternity",
               "stats/{service:3}/cinstance:a/b/metric:6/day:20250423", "stats/{service:2}/cinstance:a\"b/metric:6/eternity",
               "stats/{service:2}/cinstance:a\"b\"c/metric:6/eternity", "stats/{service:2}/metric:6/eternity/day:20250423",
               "stats/{service:2}/cinstance:a/service:3/metric:6/eternity", "stats/{service:3}/cinstance:a/period/metric:6/eternity",
               "stats/{service:N/A}/metric:6/eternity", "stats/{service:2}/cinstance:my cinstances/metric:6/eternity",
               "stats/{service:3}/cinstance:x::/metric:6/hour:202504231", "statistics/{service:2}/metric:6/eternity",
               "stats/{service:2}/cinstance:ü/metric:6/year:2025010"].freeze
    FATAL = ["stats/{service:2}/metric:6/eternity/", "stats/", "stats/{service:2}/cinstance:/:/metric:6/eternity"].freeze

    private

    def prefix = "cleaning"

    def kinds = KINDS

    # The deletion of statistics fails at an id with a colon: it has one in few sequences only.
    def set_up
      @apps = chance(0.1) ? APPS : APPS.first(2)
      @fatal = @apps.size == 2 && chance(0.1) ? pick(FATAL) : nil
      # The order of a set of texts is not defined.
      @marked = chance(0.2) ? ["my svc"] : %w[2 3 9]
      super
    end

    def skewed(list) = super(list.equal?(APPS) ? @apps : list)

    # The original's keys move, so that no list tells the one of a service.
    def credentials(service_id)
      chance(0.3) ? { "provider_key" => pick(KEYS), "service_id" => service_id } : super
    end

    def mark = add("stats.mark_service_to_be_deleted", { "service_id" => pick(@marked) })

    def delete_statistics = add("stats.delete!")

    def delete_zeros = add("stats.delete_zeros")

    def foreign_counter
      key = @fatal && chance(0.3) ? @fatal : pick(FOREIGN)
      add("redis.set", { "key" => key, "value" => pick(["0", "1", "00", ""]) })
    end

    def aggregate
      return super if chance(0.5)

      add("aggregator.process",
          { "transactions" => [{ "service_id" => pick(@services), "application_id" => skewed(APPS),
                                 "timestamp" => time.strftime("%Y-%m-%d %H:%M:%S"), "usage" => { skewed(METRICS.keys) => "#0" } }] })
    end

    def change_provider_key
      old_key, new_key = pick(KEYS), pick(KEYS)
      old_key = pick([nil, "", "nobody"]) if odd?
      new_key = pick([nil, "", old_key]) if odd?
      add("provider_key.change", { "old_key" => old_key, "new_key" => new_key })
    end

    def delete_service = add("service.delete", { "id" => pick([*@services, "9"]) })

    def look_at_provider
      case @random.rand(3)
      when 0 then add("service.default_id", { "provider_key" => pick(KEYS) })
      when 1 then add("service.load_by_id", { "id" => pick(@services) })
      # Ids that are integers: the order of a set of texts is not defined.
      else add("service.list", { "provider_key" => pick(KEYS) }) if @services.none? { |id| id.to_i.zero? }
      end
    end
  end
end
