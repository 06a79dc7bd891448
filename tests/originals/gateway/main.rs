//! Performs operations of the gateway's own store on a redis-server. A line of the input is an
//! operation, the seconds since 1970, the id of the API key and the other arguments, between tabs.
//! The output has the commands of the operation, a line each, and a line with its result.
//! Usage: gateway SOCKET [steps]
//! With "steps" each request waits for a line of the input, so that operations of two programs can
//! overlap.

use gateway_core::{
    BudgetDecision, BudgetStore, GatewayError, GatewayResult, RateLimitDecision, RateLimitStore,
};
use gateway_store::RedisControlState;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future that never waits.
fn run<F: Future>(future: F) -> F::Output {
    match pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future waits"),
    }
}

fn optional<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

fn unavailable(_error: GatewayError) -> String {
    "{\"error\":\"ControlStateUnavailable\"}".to_string()
}

fn done(result: GatewayResult<()>) -> String {
    result.map_or_else(unavailable, |()| "\"ok\"".to_string())
}

fn limited(result: GatewayResult<RateLimitDecision>) -> String {
    result.map_or_else(unavailable, |decision| match decision {
        RateLimitDecision::Allowed { count } => {
            format!("{{\"decision\":\"Allowed\",\"count\":{count}}}")
        }
        RateLimitDecision::Exceeded { count, retry_after_seconds } => {
            let seconds = retry_after_seconds.map_or("null".to_string(), |one| one.to_string());
            format!(
                "{{\"decision\":\"Exceeded\",\"count\":{count},\"retry_after_seconds\":{seconds}}}"
            )
        }
    })
}

fn budgeted(result: GatewayResult<BudgetDecision>) -> String {
    result.map_or_else(unavailable, |decision| {
        let (name, state) = match decision {
            BudgetDecision::Allowed(state) => ("Allowed", state),
            BudgetDecision::Exceeded(state) => ("Exceeded", state),
        };
        let (daily, monthly) = (state.daily_spend_usd, state.monthly_spend_usd);
        format!(
            "{{\"decision\":\"{name}\",\"daily_spend_usd\":{daily:?},\"monthly_spend_usd\":{monthly:?}}}"
        )
    })
}

fn perform(store: &RedisControlState, words: &[&str]) -> String {
    let [operation, seconds, key, rest @ ..] = words else { panic!("too few words") };
    chrono::Utc::set(seconds.parse().unwrap());
    let now = chrono::Utc::now();
    let key = uuid::Uuid::parse_str(key).unwrap();
    match (*operation, rest) {
        ("check_request_rate_limit", [limit]) => {
            limited(run(store.check_request_rate_limit(key, optional(limit), now)))
        }
        ("check_budget", [daily, monthly]) => {
            budgeted(run(store.check_budget(key, optional(daily), optional(monthly), now)))
        }
        ("add_budget_spend", [cost]) => done(run(store.add_budget_spend(key, number(cost), now))),
        ("reserve_budget", [request, cost]) => {
            done(run(store.reserve_budget(key, request, number(cost), now)))
        }
        ("reconcile_budget_reservation", [request, cost]) => {
            done(run(store.reconcile_budget_reservation(key, request, number(cost), now)))
        }
        ("release_budget_reservation", [request]) => {
            done(run(store.release_budget_reservation(key, request)))
        }
        _ => panic!("no operation {words:?}"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let store = RedisControlState::new(&arguments[1]).unwrap();
    if arguments.get(2).is_some_and(|word| word == "steps") {
        redis::wait_before_requests();
    }
    let mut line = String::new();
    // Between two lines the input is not locked: a request that waits reads it, too.
    while std::io::stdin().read_line(&mut line).unwrap() > 0 {
        let words: Vec<&str> = line.trim_end_matches('\n').split('\t').collect();
        let result = perform(&store, &words);
        println!("{{\"result\":{result}}}");
        line.clear();
    }
}
