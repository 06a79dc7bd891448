# Loads the original: a checkout of https://github.com/3scale/apisonator, whose folder REDOUBLE_THREESCALE names. What the
# recorder has to control is put in place of its own files: the connection to Redis, the queue of jobs, the configuration,
# the log and the clock. Needs the packages ruby-sinatra, ruby-rack-test, ruby-builder and ruby-yajl.
unless ENV["REDOUBLE_THREESCALE"]
  warn "skipped: REDOUBLE_THREESCALE does not name a checkout of github.com/3scale/apisonator"
  exit 77
end

require "builder"
require "date"
require "json"
require "net/http"
require "ostruct"
require "rack"
require "securerandom"
require "set"
require "sinatra/base"
require "yajl"
require_relative "storage"

class Time
  class << self
    # The time of the recording; nil: that of the machine.
    attr_accessor :frozen_at

    alias time_of_the_machine now

    def now(**options)
      frozen_at ? at(frozen_at) : time_of_the_machine(**options)
    end
  end
end

# Keeps jobs as the real queue does: their arguments are written as JSON.
module Resque
  module Helpers
    def decode(text)
      Yajl::Parser.parse(text)
    end
  end

  class << self
    def jobs
      @jobs ||= []
    end

    def enqueue(job, *arguments)
      jobs << [job, Yajl::Parser.parse(Yajl::Encoder.encode(arguments))]
    end
  end
end

module Recorder
  # A log that nobody reads.
  class Silence
    def method_missing(*) = nil

    def respond_to_missing?(*) = true
  end

  HOOK_CALLS = []
end

class Net::HTTP
  def self.post_form(uri, form)
    raise Recorder::HOOK_CALLS.pop if Recorder::HOOK_CALLS.last.is_a?(String)

    Recorder::HOOK_CALLS << [uri.to_s, form]
  end
end

module ThreeScale
  module Backend
    PIPELINED_SLICE_SIZE = 400
    TIME_FORMAT = "%Y-%m-%d %H:%M:%S %z"
    VERSION = "recorded"

    def self.test? = false
    def self.development? = false

    def self.configuration
      @configuration ||= OpenStruct.new(
        notification_batch: 10_000, events_hook_shared_secret: "SECRET", legacy_referrer_filters: false,
        worker_prometheus_metrics: OpenStruct.new(enabled: false),
        master: OpenStruct.new(metrics: OpenStruct.new(transactions: "transactions",
                                                       transactions_authorize: "transactions/authorize"))
      )
    end

    module Manifest
      def self.thread_safe? = false
    end

    module Configurable
      def self.included(base) = base.extend(self)
      def configuration = Backend.configuration
    end

    module Logging
      def logger = Recorder::Silence.new
    end

    class Worker
      def self.logger = Recorder::Silence.new
    end

    class Storage
      class << self
        attr_accessor :instance
      end
    end

    module CORS
      HEADERS = {}.freeze
      def self.headers = HEADERS
      def self.options_headers = HEADERS
    end

    module CSP
      def self.headers = {}
    end
  end
end

module Recorder
  LIBRARY = File.join(File.expand_path(ENV["REDOUBLE_THREESCALE"]), "lib")
  BACKEND = "3scale/backend"
  REPLACED = ["resque", *%w[configuration cors csp logging storage version].map { |name| "#{BACKEND}/#{name}" }].freeze
  FILES = %w[storage_key_helpers storage_helpers storable extensions/array extensions/hash extensions/nil_class
             extensions/string extensions/time memoizer errors period/boundary period/cache period/period error_storage
             event_storage alerts alert_limit metric service service_token usage_limit application usage stats/keys
             stats/period_commons stats/codes_commons stats/aggregator stats/stats_parser stats/cleaner
             use_cases/provider_key_change_use_case background_job transactor rack/exception_catcher listener].freeze

  $LOAD_PATH.unshift(LIBRARY)
  $LOADED_FEATURES.concat(REPLACED.map { |name| File.join(LIBRARY, "#{name}.rb") })
  FILES.each { |name| require "#{BACKEND}/#{name}" }
end
