# Random sequences of operations on a small, crowded world: few services, applications and metrics, so that operations
# meet each other. A seed always makes the same sequence.
#
# The order in which Redis returns the members of a set of texts is not defined, so that sets whose order shows have
# integers as members only.
module Recorder
  class Sequence
    SERVICES = ["2", "3", "my svc"].freeze
    PROVIDERS = { "2" => "pkey", "3" => "pkey", "my svc" => "other key" }.freeze
    APPS = ["app1", "app 2", "ünï:cöde"].freeze
    USER_KEYS = ["uk1", "user key"].freeze
    PLANS = ["44", "plan b"].freeze
    # Names by id, and the parent of each.
    METRICS = { "6" => ["hits", nil], "7" => ["search", "6"], "8" => ["full text", "7"], "9" => ["größe", nil],
                "10" => ["search/deep", "7"] }.freeze
    NAMES = ["hits", "hits", "hits", "search", "search", "full text", "größe", "search/deep"].freeze
    ODD_NAMES = [" hits ", "Hits", "unknown", "", "hits]"].freeze
    AMOUNTS = %w[1 1 1 1 2 3 5 7 10 #1 #5 #12].freeze
    ODD_AMOUNTS = ["0", "00", "#0", "-1", "", " 4 ", "+3", "#-1", "1e3", "5.5", "x", "#", "# 5", " #6", "4\n", "\n4\n", "٣",
                   "1_000", "0x10", "9223372036854775807", "99999999999999999999", "#99999999999999999999"].freeze
    PERIODS = %w[minute hour day week month year eternity].freeze
    ALERTS = [0, 50, 80, 90, 100, 120, 150, 200, 300].freeze
    ODD_ALERTS = ["80", "081", 85, "", nil, "100 ", -50].freeze
    CODES = ["200", "200", "404", "403", "500", "503", "201", "302", "599", "99", "1000", "20x", "", " 200", "200\n"].freeze
    STARTS = [[2025, 4, 23, 17, 42, 39], [2024, 2, 29, 23, 59, 58], [2025, 1, 1, 0, 0, 0], [2025, 3, 10, 10, 10, 10],
              [2024, 12, 30, 0, 0, 5], [2025, 6, 1, 20, 0, 0], [2025, 12, 31, 23, 30, 0], [2025, 8, 31, 9, 59, 59],
              [2027, 2, 28, 23, 0, 1]].freeze
    STEPS = [0, 0, 0, 0, 1, 7, 59, 60, 61, 600, 3599, 3600, 43_200, 86_400].freeze
    REFERRERS = ["example.org", "a.example.org", "example.orgx", "*", "", "EXAMPLE.org", "x\nexample.org"].freeze
    FILTERS = ["*.example.org", "example.org", "*", "a?b", "[x]"].freeze
    EXTENSIONS = ["no_body=1", "no_body=0", "rejection_reason_header=1", "limit_headers=1", "flat_usage=1", "hierarchy=1",
                  "limit_headers=1&rejection_reason_header=1", "hierarchy=1&flat_usage=1", "flat_usage=0", "list_app_keys=1",
                  "list_app_keys=1&hierarchy=1&limit_headers=1"].freeze
    # What follows the set-up, and how often.
    KINDS = { report: 30, authorize: 14, authrep: 18, run_jobs: 22, oauth: 4, aggregate: 3, limit: 4, alert_limit: 3,
              service: 2, application: 4, application_key: 3, referrer_filter: 2, user_key: 2, metric: 3, token: 1,
              events: 3, errors: 3, expiry: 1 }.freeze

    attr_reader :ops

    def initialize(seed, length)
      @random = Random.new(seed)
      @now = Time.utc(*pick(STARTS)).to_i
      @length = length
      @ops = []
      @has_master = chance(0.2)
      @hook = chance(0.15) ? "http://system/events" : nil
      @odds = pick([0.02, 0.08, 0.25])
      @seed = seed
      build
    end

    def to_h
      { name: format("#{prefix}_%04d", @seed), memoizer: chance(0.5) ? "kept" : "reset_each_op",
        config: { master_service_id: @has_master ? 1 : nil, notification_batch: @has_master ? pick([1, 2, 5]) : 10_000,
                  events_hook: @hook },
        ops: @ops }
    end

    private

    def prefix = "wide"

    def kinds = KINDS

    def pick(list) = list[@random.rand(list.size)]

    def chance(probability) = @random.rand < probability

    # Early members are picked more often.
    def skewed(list) = list[[@random.rand(list.size), @random.rand(list.size)].min]

    def usual(list, odd) = chance(@odds) ? pick(odd) : pick(list)

    def odd? = chance(@odds)

    def add(name, arguments = {})
      @ops << { op: name, now: @now, args: arguments }
    end

    def build
      set_up
      each_kind = kinds.flat_map { |kind, count| [kind] * count }
      @length.times do
        @now += pick(STEPS)
        send(pick(each_kind))
      end
      run_jobs
      add("events.list")
    end

    def set_up
      set_up_master if @has_master
      @services = SERVICES.first(1 + @random.rand(SERVICES.size))
      @services.each { |id| set_up_service(id) }
    end

    def set_up_master
      add("service.save", { "provider_key" => "master", "id" => "1", "backend_version" => "1" })
      add("application.save", { "service_id" => "1", "id" => "provider", "state" => "active", "plan_id" => "1" })
      add("application.save_id_by_key", { "service_id" => "1", "user_key" => "pkey", "id" => "provider" })
      add("metric.save", { "service_id" => "1", "id" => "100", "name" => "transactions" })
      return if chance(0.2)

      add("metric.save", { "service_id" => "1", "id" => "101", "name" => "transactions/authorize",
                           "parent_id" => chance(0.5) ? "100" : nil }.compact)
    end

    def set_up_service(id)
      service(id)
      METRICS.each_key { |metric_id| save_metric(id, metric_id) if metric_id == "6" || chance(0.75) }
      APPS.first(1 + @random.rand(APPS.size)).each { |app| save_application(id, app) }
      @random.rand(4).times { limit(id) }
      @random.rand(4).times { alert_limit(id) }
      application_key(id) if chance(0.2)
      user_key(id) if chance(0.5)
    end

    def service(id = pick(@services))
      arguments = { "provider_key" => PROVIDERS[id], "id" => id, "backend_version" => pick(["2", "2", "2", "1", "oauth", nil]) }
      arguments["referrer_filters_required"] = true if chance(0.3)
      arguments["state"] = pick(%w[suspended active odd]) if chance(0.15)
      add("service.save", arguments.compact)
    end

    def save_metric(service_id, id)
      name, parent = METRICS[id]
      arguments = { "service_id" => service_id, "id" => id, "name" => name, "parent_id" => parent }
      add("metric.save", arguments.compact)
    end

    def metric
      id = pick(METRICS.keys)
      case @random.rand(6)
      when 0 then add("metric.delete", { "service_id" => pick(@services), "id" => id })
      when 1 then add("metric.save", { "service_id" => pick(@services), "id" => id, "name" => "renamed" })
      when 2 then add("metric.hierarchy", { "service_id" => pick(@services) })
      else save_metric(pick(@services), id)
      end
    end

    def save_application(service_id, id)
      arguments = { "service_id" => service_id, "id" => id, "state" => chance(0.1) ? "suspended" : "active" }
      arguments["plan_id"] = skewed(PLANS) if chance(0.9)
      arguments["plan_name"] = pick(["Basic", "Gold <&> \"co\""]) if chance(0.7)
      arguments["redirect_url"] = "http://redirect.example" if chance(0.3)
      add("application.save", arguments)
    end

    def application
      return save_application(pick(@services), pick(APPS)) if chance(0.6)

      add("application.delete", { "service_id" => pick(@services), "id" => pick(APPS) })
    end

    def application_key(service_id = pick(@services))
      arguments = { "service_id" => service_id, "id" => skewed(APPS), "value" => pick(%w[111 222 333]) }
      add(chance(0.75) ? "application.create_key" : "application.delete_key", arguments)
    end

    def referrer_filter
      arguments = { "service_id" => pick(@services), "id" => skewed(APPS), "value" => usual(FILTERS, ["", " "]) }
      add(chance(0.75) ? "application.create_referrer_filter" : "application.delete_referrer_filter", arguments)
    end

    def user_key(service_id = pick(@services))
      key = usual(USER_KEYS, ["", " "])
      if chance(0.8)
        add("application.save_id_by_key", { "service_id" => service_id, "user_key" => key, "id" => skewed(APPS) })
      else
        add("application.delete_id_by_key", { "service_id" => service_id, "user_key" => key })
      end
    end

    def token
      pair = { "service_token" => usual(["tok", "to ken"], [""]), "service_id" => pick(@services) }
      case @random.rand(4)
      when 0 then add("service_token.delete", pair)
      when 1 then add("service_token.exists?", pair)
      else add("service_token.save_pairs", { "pairs" => [pair] })
      end
    end

    def limit(service_id = pick(@services))
      target = { "service_id" => service_id, "plan_id" => skewed(PLANS), "metric_id" => skewed(METRICS.keys) }
      case @random.rand(8)
      when 0 then add("usage_limit.delete", target.merge("period" => pick(PERIODS)))
      when 1 then add("usage_limit.load_value", target.merge("period" => pick(PERIODS)))
      else
        values = PERIODS.sample(1 + @random.rand(3), random: @random).to_h { |period| [period, limit_value] }
        add("usage_limit.save", target.merge(values))
      end
    end

    def limit_value = usual(%w[0 1 2 4 5 10 20 100], ["", "x", "-3", "12abc", "99999999999999999999"])

    def alert_limit(service_id = pick(@services))
      arguments = { "service_id" => service_id, "value" => usual(ALERTS, ODD_ALERTS) }
      add(chance(0.85) ? "alert_limit.save" : "alert_limit.delete", arguments)
    end

    def usage
      names = Array.new(1 + [@random.rand(3), @random.rand(3)].min) { usual(NAMES, ODD_NAMES) }
      # A name with a bracket or without a letter is another parameter of the query.
      names.reject { |name| name.empty? || name.include?("]") }.to_h { |name| [name, usual(AMOUNTS, ODD_AMOUNTS)] }
    end

    # Times near the edges of what is accepted, and near the edges of periods.
    def time
      offset = pick([0, 0, -1, -60, -3600, -86_399, -86_400, -86_401, 3599, 3600, 3601, -200_000])
      Time.at(@now + offset).utc
    end

    def timestamp
      return pick(ODD_TIMES) if odd?

      case @random.rand(6)
      when 0 then time.to_i.to_s
      when 1 then time.strftime("%Y-%m-%dT%H:%M:%SZ")
      when 2 then "#{(time - 8 * 3600).strftime('%Y-%m-%d %H:%M:%S')} -08:00"
      when 3 then "#{(time + 5400).strftime('%d %b %Y %H:%M:%S')} +0130"
      else time.strftime("%Y-%m-%d %H:%M:%S")
      end
    end
    ODD_TIMES = ["", " ", "garbage", "2025-13-45 99:99:99", "2025-04-23", "0x10", "1_745_430_159", " 1745430159 ", "-1", "0",
                 "12:30", "2025-02-30 10:00:00", "2025-04-23T17:42:39.999Z", "23/04/2025 17:42"].freeze

    def transaction
      whom = chance(0.2) ? { "user_key" => usual(USER_KEYS, ["nobody"]) } : { "app_id" => usual_app }
      whom["user_key"] = "uk1" if odd? && chance(0.3)
      whom = {} if odd? && chance(0.2)
      result = whom
      result["usage"] = usage unless odd? && chance(0.3)
      result["timestamp"] = timestamp if chance(0.5)
      result["log"] = { "code" => pick(CODES) } if chance(0.35)
      result.delete("usage") if result["usage"] && result["usage"].empty?
      result.empty? ? { "app_id" => "app1" } : result
    end

    def usual_app = chance(@odds) ? pick(["nobody", "", " app1 "]) : skewed(APPS)

    def credentials(service_id)
      if chance(0.12)
        { "service_token" => usual(["tok", "to ken"], ["", "bad"]), "service_id" => service_id }
      else
        { "provider_key" => usual([PROVIDERS[service_id]], ["bad", "", " pkey", "other key"]), "service_id" => service_id }
      end
    end

    def service_parameter = odd? ? pick(["", "x-2", "9", "-", " 2 ", "2-3"]) : pick(@services)

    def whom_and_where
      id = service_parameter
      params = credentials(@services.include?(id) ? id : @services.first)
      params["service_id"] = id
      params.delete("service_id") if odd? && chance(0.5)
      params
    end

    def with_extensions(params)
      return params unless chance(0.35)

      { "params" => params, "extensions_header" => pick(EXTENSIONS) }
    end

    def report
      count = pick([1, 1, 1, 2, 2, 3, 5])
      params = whom_and_where
      params["transactions"] = (0...count).to_h { |i| [i.to_s, transaction] }
      params.delete("transactions") if odd? && chance(0.2)
      add("http.report", with_extensions(params))
    end

    def request_parameters
      params = whom_and_where
      params["app_id"] = usual_app unless odd? && chance(0.3)
      if chance(0.15)
        params["user_key"] = usual(USER_KEYS, ["", "nobody"])
        params.delete("app_id") if chance(0.9)
      end
      params["app_key"] = usual(%w[111 222], ["", " 111 ", "bad"]) if chance(0.3)
      params["referrer"] = pick(REFERRERS) if chance(0.3)
      params["user_id"] = "someone" if odd? && chance(0.2)
      params["no_body"] = pick(["1", "true", "0", "false", ""]) if chance(0.05)
      params
    end

    def with_usage(params, probability)
      used = usage
      params["usage"] = used if chance(probability) && !used.empty?
      params["usage"] = "5" if odd? && chance(0.2)
      params["log"] = { "code" => pick(CODES) } if chance(0.15)
      params
    end

    def authorize = add("http.authorize", with_extensions(with_usage(request_parameters, 0.5)))

    def authrep = add("http.authrep", with_extensions(with_usage(request_parameters, 0.85)))

    def oauth
      params = with_usage(request_parameters, 0.6)
      params["redirect_url"] = pick(["http://redirect.example", "http://bad.example", ""]) if chance(0.3)
      params["redirect_uri"] = pick(["http://redirect.example", "http://bad.example"]) if chance(0.3)
      add(pick(%w[http.oauth_authorize http.oauth_authrep]), with_extensions(params))
    end

    def run_jobs = add("worker.run_all_jobs")

    def aggregate
      transactions = Array.new(1 + @random.rand(3)) do
        { "service_id" => pick(@services), "application_id" => skewed(APPS),
          "timestamp" => time.strftime("%Y-%m-%d %H:%M:%S"),
          "usage" => { skewed(METRICS.keys) => pick(AMOUNTS) }, "response_code" => pick(CODES) }
      end
      add("aggregator.process", { "transactions" => transactions })
    end

    def events
      case @random.rand(6)
      when 0 then add("events.size")
      when 1 then add("events.delete", { "id" => pick(["1", "2", "3", "0", "-1", "x", "2x"]) })
      when 2 then add("events.delete_range", { "to_id" => pick(["1", "3", "0", "x", "9"]) })
      when 3 then add("events.ping_if_not_empty") if @hook
      else add("events.list")
      end
    end

    def errors
      add(pick(%w[errors.list errors.count]), { "service_id" => pick(@services) })
    end

    # Time passes for a key: the clock of the server that records does not.
    def expiry
      day = Time.at(@now).utc.strftime("%Y%m%d")
      keys = ["events/ping", "daily_traffic/service:2/cinstance:app1/#{day}",
              *ALERTS.map { |bin| "alerts/service_id:2/app_id:app1/#{bin}/already_notified" }]
      add("redis.del", { "key" => pick(keys) })
    end
  end
end
