# The operations of goldens, each as a call of the original: (arguments) -> result as JSON. Errors are exceptions.
require "rack/test"
require_relative "original"

module Recorder
  include ThreeScale::Backend

  # Sends requests to the original's listener.
  class Http
    include Rack::Test::Methods

    def app = ThreeScale::Backend::Listener

    def answer(method, path, params, extensions)
      headers = extensions ? { "HTTP_3SCALE_OPTIONS" => extensions } : {}
      public_send(method, path, params, headers)
      own = last_response.headers.select { |name, _| name.downcase.start_with?("3scale-") }
      answer = { status: last_response.status, body: last_response.body }
      own.empty? ? answer : answer.merge(headers: own)
    end
  end

  # The arguments of a call as a hash with symbols.
  def self.names(arguments) = arguments.transform_keys(&:to_sym)

  def self.request(method, path)
    lambda do |arguments|
      params = arguments["params"] || arguments
      # Only forms and queries reach the original: an empty map is no parameter.
      Http.new.answer(method, path, params, arguments["extensions_header"])
    end
  end

  def self.application(arguments)
    Application.load!(arguments["service_id"], arguments["id"])
  end

  # Workers take the jobs of one queue before those of the other.
  QUEUES = %i[priority main].freeze

  def self.run_jobs(arguments)
    jobs = Resque.jobs.slice!(0..).sort_by.with_index { |(job, _), i| [QUEUES.index(job.instance_variable_get(:@queue)), i] }
    arguments["jobs"] = jobs.map { |job, words| { class: job.name.split("::").last, args: words.first(3) } }
    jobs.each { |job, words| job.perform(*words) }
    "ok"
  end

  def self.metric_of(arguments)
    attributes = names(arguments)
    children = attributes.delete(:children)
    attributes[:children] = children.map { |child| Metric.new(names(child)) } if children
    attributes
  end

  def self.counted(arguments)
    arguments["transactions"].map { |each| Transaction.new(names(each)) }
  end

  def self.ping(arguments)
    raising = arguments.delete("hook") == "raises"
    HOOK_CALLS << "boom" if raising
    arguments["hook"] = "raises" if raising
    EventStorage.ping_if_not_empty || "nil"
  ensure
    HOOK_CALLS.delete("boom")
  end

  # Returns how many counters were deleted.
  def self.delete_zeros(_)
    deleted = StringIO.new
    Stats::Cleaner.delete_stats_keys_set_to_0([Storage.instance], log_deleted_keys: deleted)
    deleted.string.lines.size
  end

  TABLE = {
    "service.save" => ->(a) { Service.save!(names(a)).to_hash },
    "service.load_by_id" => ->(a) { Service.load_by_id(a["id"])&.to_hash },
    "service.delete" => ->(a) { Service.delete_by_id(a["id"]) && "deleted" || "deleted" },
    "service.exists?" => ->(a) { Service.exists?(a["id"]) },
    "service.list" => ->(a) { Service.list(a["provider_key"]) },
    "service.default_id" => ->(a) { Service.default_id(a["provider_key"]) },
    "provider_key.change" => lambda { |a|
      ProviderKeyChangeUseCase.new(a["old_key"], a["new_key"]).process
      "ok"
    },
    "service_token.save_pairs" => lambda { |a|
      ServiceToken.save_pairs(a["pairs"].map { |pair| names(pair) })
      "ok"
    },
    "service_token.delete" => ->(a) { ServiceToken.delete(a["service_token"], a["service_id"]) },
    "service_token.exists?" => ->(a) { ServiceToken.exists?(a["service_token"], a["service_id"]) },
    "application.save" => ->(a) { Application.save(names(a)).to_hash },
    "application.load" => ->(a) { Application.load(a["service_id"], a["id"])&.to_hash },
    "application.delete" => lambda { |a|
      Application.delete(a["service_id"], a["id"])
      "deleted"
    },
    "application.keys" => ->(a) { application(a).keys },
    "application.create_key" => ->(a) { application(a).create_key(a["value"]) },
    "application.delete_key" => ->(a) { application(a).delete_key(a["value"]) },
    "application.create_referrer_filter" => ->(a) { application(a).create_referrer_filter(a["value"]) },
    "application.delete_referrer_filter" => ->(a) { application(a).delete_referrer_filter(a["value"]) },
    "application.save_id_by_key" => ->(a) { Application.save_id_by_key(a["service_id"], a["user_key"], a["id"]) },
    "application.load_id_by_key" => ->(a) { Application.load_id_by_key(a["service_id"], a["user_key"]) },
    "application.delete_id_by_key" => ->(a) { Application.delete_id_by_key(a["service_id"], a["user_key"]) },
    "metric.save" => ->(a) { Metric.save(metric_of(a)).to_hash },
    "metric.delete" => ->(a) { Metric.delete(a["service_id"], a["id"]) },
    "metric.hierarchy" => ->(a) { Metric.hierarchy(a["service_id"]) },
    "metric.ascendants" => ->(a) { Metric.ascendants(a["service_id"], a["name"]) },
    "metric.descendants" => ->(a) { Metric.descendants(a["service_id"], a["name"]) },
    "usage_limit.save" => lambda { |a|
      UsageLimit.save(names(a))
      "ok"
    },
    "usage_limit.delete" => lambda { |a|
      UsageLimit.delete(a["service_id"], a["plan_id"], a["metric_id"], a["period"])
      "ok"
    },
    "usage_limit.load_value" => ->(a) { UsageLimit.load_value(a["service_id"], a["plan_id"], a["metric_id"], a["period"]) },
    "alert_limit.save" => ->(a) { AlertLimit.save(a["service_id"], a["value"])&.to_hash },
    "alert_limit.delete" => ->(a) { AlertLimit.delete(a["service_id"], a["value"]) },
    "http.report" => request(:post, "/transactions.xml"),
    "http.authorize" => request(:get, "/transactions/authorize.xml"),
    "http.authrep" => request(:get, "/transactions/authrep.xml"),
    "http.oauth_authorize" => request(:get, "/transactions/oauth_authorize.xml"),
    "http.oauth_authrep" => request(:get, "/transactions/oauth_authrep.xml"),
    "worker.run_all_jobs" => method(:run_jobs),
    "aggregator.process" => lambda { |a|
      Stats::Aggregator.process(counted(a))
      "ok"
    },
    "events.list" => ->(_) { EventStorage.list },
    "events.size" => ->(_) { EventStorage.size },
    "events.delete" => ->(a) { EventStorage.delete(a["id"]) },
    "events.delete_range" => ->(a) { EventStorage.delete_range(a["to_id"]) },
    "events.ping_if_not_empty" => method(:ping),
    "hook_calls_so_far" => ->(_) { HOOK_CALLS.empty? ? 0 : HOOK_CALLS.dup },
    "errors.list" => ->(a) { ErrorStorage.list(a["service_id"], page: a["page"]) },
    "errors.count" => ->(a) { ErrorStorage.count(a["service_id"]) },
    "stats.mark_service_to_be_deleted" => ->(a) { Stats::Cleaner.mark_service_to_be_deleted(a["service_id"]) },
    "stats.delete!" => lambda { |_|
      Stats::Cleaner.delete!([Storage.instance])
      "ok"
    },
    "stats.delete_zeros" => method(:delete_zeros),
    "redis.set" => ->(a) { Storage.instance.set(a["key"], a["value"]) },
    "redis.del" => ->(a) { Storage.instance.del(a["key"]) }
  }.freeze

  # Returns an exception in the form of goldens.
  def self.error_of(exception)
    answer = { class: exception.class.name.delete_prefix("ThreeScale::Backend::"), message: exception.message }
    return answer unless exception.is_a?(ThreeScale::Backend::Error)

    { class: answer[:class].split("::").last, code: exception.code, message: exception.message, http: exception.http_code }
  end
end
