"""For each rule of Scripts/deploy/alerts.yaml: series with which it fires, and series with which it does not.

Values are promtool's: `0+6x20` is 0, 6, 12 … a minute apart. Everything is looked at after 30 minutes.
"""
from typing import NamedTuple

NODE = 'instance="a:1",job="throng"'


class Case(NamedTuple):
    fires: dict
    silent: dict
    labels: dict = {}  # besides instance and job


def histogram(name, slow, labels=""):
    """10 observations a minute: all up to 0.01 s, or all beyond 5 s."""
    extra = NODE + ("," + labels if labels else "")
    bounds = ["0.01", "0.1", "0.5", "5", "+Inf"]
    return {
        f'{name}_bucket{{{extra},le="{bound}"}}': "0x40" if slow and bound != "+Inf" else "0+10x40" for bound in bounds}


def counter(name, labels, per_minute):
    return {f'{name}{{{NODE}{"," + labels if labels else ""}}}': f"0+{per_minute}x40"}


def gauge(name, value, labels=""):
    return {f'{name}{{{NODE}{"," + labels if labels else ""}}}': f"{value}x40"}


SENDS = 'method="sendGroupTextMessage"'
JUST_NODE = {"instance": "a:1"}
DAY = 86_400

CASES = {
    "ThrongDown": Case(gauge("up", 0), gauge("up", 1)),
    "ThrongNotReady": Case(gauge("throng_ready", 0), gauge("throng_ready", 1)),
    "ThrongRestarts": Case(
        {f"process_start_time_seconds{{{NODE}}}": "0x20 1 2 3 3x20"}, {f"process_start_time_seconds{{{NODE}}}": "0x20 1x20"}),
    "ThrongLoopLag": Case(
        histogram("throng_loop_lag_seconds", True, 'loop="0"'), histogram("throng_loop_lag_seconds", False, 'loop="0"'),
        {"loop": "0"}),
    "ThrongSendsSlow": Case(
        histogram("throng_request_duration_seconds", True, SENDS),
        {**histogram("throng_request_duration_seconds", False, SENDS),
         **histogram("throng_request_duration_seconds", True, 'method="searchGroups"')}),
    "ThrongTemporaryErrors": Case(
        counter("throng_requests_total", 'method="ping",code="10002"', 6) | counter("throng_requests_total", 'method="ping",code="0"', 60),
        counter("throng_requests_total", 'method="ping",code="10010"', 6) | counter("throng_requests_total", 'method="ping",code="0"', 60)),
    "ThrongCommitsFail": Case(
        counter("throng_store_commits_failed_total", "", 1), counter("throng_store_commits_failed_total", "", 0)),
    "ThrongCommitsSlow": Case(
        histogram("throng_store_commit_duration_seconds", True), histogram("throng_store_commit_duration_seconds", False)),
    "ThrongCommitsWait": Case(
        gauge("throng_store_pending_commits", 10_001), gauge("throng_store_pending_commits", 9_000)),
    "ThrongDiskFills": Case(
        {f"throng_store_disk_free_bytes{{{NODE}}}": "50000000000-100000000x40"}, gauge("throng_store_disk_free_bytes", 50_000_000_000)),
    "ThrongOpenFiles": Case(
        gauge("process_open_fds", 95) | gauge("process_max_fds", 100), gauge("process_open_fds", 85) | gauge("process_max_fds", 100)),
    "ThrongSlowConsumers": Case(
        counter("throng_connections_closed_total", 'code="4002"', 61),
        counter("throng_connections_closed_total", 'code="4002"', 59) | counter("throng_connections_closed_total", 'code="1000"', 600)),
    "ThrongSendQueues": Case(gauge("throng_send_queue_bytes", 600_000_000), gauge("throng_send_queue_bytes", 500_000_000)),
    "ThrongImportantMessagesDropped": Case(
        counter("throng_messages_dropped_total", 'group_type="AVChatRoom",priority="High"', 1),
        counter("throng_messages_dropped_total", 'group_type="AVChatRoom",priority="Normal"', 1),
        {"group_type": "AVChatRoom"}),
    "ThrongSignInsRefused": Case(
        counter("throng_sign_ins_refused_total", 'code="70009"', 301),
        counter("throng_sign_ins_refused_total", 'code="70009"', 299) | counter("throng_sign_ins_refused_total", 'code="70001"', 6000)),
    "ThrongUnauthorizedCalls": Case(
        counter("throng_http_unauthorized_total", "", 7), counter("throng_http_unauthorized_total", "", 5)),
    "ThrongOriginsRefused": Case(
        counter("throng_upgrades_refused_total", 'reason="origin"', 7), counter("throng_upgrades_refused_total", 'reason="path"', 7)),
    "ThrongWebhooksPending": Case(
        {f"throng_webhooks_pending{{{NODE}}}": "2000+10x40"}, {f"throng_webhooks_pending{{{NODE}}}": "9000-10x40"}),
    "ThrongWebhooksLost": Case(
        counter("throng_webhooks_total", 'type="messageSent",result="lost"', 1),
        counter("throng_webhooks_total", 'type="messageSent",result="failed"', 1), {"result": "lost"}),
    "ThrongCertificateExpires": Case(
        gauge("throng_tls_certificate_expiry_timestamp_seconds", 13 * DAY),
        gauge("throng_tls_certificate_expiry_timestamp_seconds", 15 * DAY)),
    "ThrongKeysStale": Case(
        gauge("throng_jwks_age_seconds", 4000) | counter("throng_jwks_reads_total", 'result="failed"', 1),
        gauge("throng_jwks_age_seconds", 4000) | counter("throng_jwks_reads_total", 'result="failed"', 0)),
    "ThrongSpansLost": Case(
        counter("throng_spans_total", 'result="refused"', 60), counter("throng_spans_total", 'result="sent"', 60)),
    "ThrongShardsWithoutOwner": Case(
        gauge("throng_cluster_shards", 1_000), gauge("throng_cluster_shards", 1_024), {"job": "throng"}),
    "ThrongLinkSilent": Case(
        gauge("throng_link_silence_seconds", 60, 'node="2"'), gauge("throng_link_silence_seconds", 0.5, 'node="2"'), {"node": "2"}),
    "ThrongLinksBeginAgain": Case(counter("throng_link_losses_total", "", 1), counter("throng_link_losses_total", "", 0)),
    "ThrongMeasurementsMissing": Case(gauge("throng_metrics_refused_total", 1), gauge("throng_metrics_refused_total", 0)),
}

# Their expressions aggregate.
WITHOUT_INSTANCE = {"ThrongShardsWithoutOwner"}
# Their expressions aggregate, or have one side without the job.
WITHOUT_JOB = {
    "ThrongLoopLag", "ThrongSendsSlow", "ThrongTemporaryErrors", "ThrongCommitsSlow", "ThrongSlowConsumers",
    "ThrongImportantMessagesDropped", "ThrongSignInsRefused", "ThrongOriginsRefused", "ThrongWebhooksLost", "ThrongSpansLost"}


def unit_tests(rules, rule_file):
    """A file for `promtool test rules`."""
    tests = []
    for rule in rules:
        name = rule["alert"]
        case = CASES[name]
        labels = {**({} if name in WITHOUT_INSTANCE else {"instance": "a:1"}), **({} if name in WITHOUT_JOB else {"job": "throng"}), **rule["labels"], **case.labels}
        for series, expected in ((case.fires, [{"exp_labels": labels}]), (case.silent, [])):
            tests.append({
                "name": f"{name} {'fires' if expected else 'is silent'}", "interval": "1m",
                "input_series": [{"series": key, "values": value} for key, value in series.items()],
                "alert_rule_test": [{"eval_time": "30m", "alertname": name, "exp_alerts": expected}]})
    return {"rule_files": [rule_file], "evaluation_interval": "1m", "tests": tests}
