"""The page that Prometheus reads: what was counted, and what is seen at this scrape."""

from collections.abc import Callable, Iterator

from prometheus_client import Metric

from bot.gauges import about_round
from bot.glancing import Glance
from bot.metrics import Metrics
from bot.state_gauges import Waits, about_drifts, about_replica
from controller.leading import Role, Standing
from storage.errors import StorageError


class MetricsPage:
    """All metrics. `glance` raises `StorageError` where the database cannot be read."""

    def __init__(
        self,
        metrics: Metrics,
        glance: Callable[[], Glance],
        standing: Callable[[], Standing],
        slack: Callable[[], bool] | None,
    ) -> None:
        self._metrics = metrics
        self._glance = glance
        self._standing = standing
        self._slack = slack
        self._waits = Waits()

    def text(self) -> tuple[str, bytes]:
        """The content type, and the page."""
        try:
            glance = self._glance()
        except StorageError:
            glance = None
        if glance is not None and glance.view is not None:
            configuration = glance.view.snapshot.configuration
            pools = {pool.name for pool in configuration.pools}
            self._metrics.keep(pools, configuration.policy_by_name.keys())
        return self._metrics.page(self._seen(glance))

    def _seen(self, glance: Glance | None) -> Iterator[Metric]:
        leads = self._standing().role is Role.LEADER
        slack = None if self._slack is None else self._slack()
        yield from about_replica(leads=leads, is_up=glance is not None, slack=slack)
        if glance is None or not leads:
            return  # what all replicas share is shown once, so that it can be summed up
        yield from self._waits.about(glance.backlog)
        if glance.drifts is not None:
            yield about_drifts(glance.drifts)
        if glance.view is not None:
            yield from about_round(glance.view)
