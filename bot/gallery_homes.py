"""The gallery's Homes, of all sorts of people."""

from dataclasses import replace

from bot.gallery_book import Book
from bot.gallery_changes import keep, larger, save
from bot.gallery_company import at_length, company, rush
from bot.gallery_examples import afternoon, own_queues, with_afternoon
from bot.gallery_nasty import with_mess
from bot.gallery_stage import ADA, BEN, DANA, GUS, snapshot, staged
from domain.configuration import Configuration


def scenes(book: Book) -> None:
    _homes(book)


def _homes(book: Book) -> None:
    with staged(book, "Home") as stage:
        stage.opens_home(ADA, "Nothing is provisioned yet")
        stage.provision(Configuration())
        stage.publish(snapshot(Configuration()))
        stage.opens_home(ADA, "An empty configuration")
    with staged(book, "Home", POOLKEEPER_KUBERNETES="in-cluster") as stage:
        configuration = with_afternoon(stage)
        for person, who in ((ADA, "An admin"), (DANA, "A member"), (GUS, "Somebody in no team")):
            stage.opens_home(person, who)
        stage.answered(DANA, "propose dev limit 20 a deadline")
        stage.opens_home(DANA, "A member with a request")
        save(stage, larger(configuration), 1)
        keep(stage, ADA, configuration, draft=1)
        for line in ("disable now", "rollback 1", "draft provision", "cgpu set 3 now"):
            stage.answered(BEN, line)
        stage.opens_home(ADA, "An admin with a draft and requests")
        stage.later(minutes=9)
        stage.opens_home(DANA, "An old view")
        stage.turn(False)
        stage.publish(replace(afternoon(configuration), taken_at=stage.now, enabled=False))
        stage.opens_home(DANA, "Management is off")
    with staged(book, "Home") as stage:
        configuration = company()
        stage.provision(configuration)
        own_queues(stage, configuration)
        stage.publish(rush(configuration))
        for one in configuration.policies[:7]:
            stage.answered(DANA, f"propose {one.name} limit none more")
        stage.opens_home(DANA, "A member of seven teams")
        stage.opens_home(ADA, "An admin of a company")
    with staged(book, "Home") as stage:
        configuration = at_length(company())
        stage.provision(configuration)
        stage.publish(rush(configuration))
        stage.opens_home(DANA, "More than a Home holds")
    with staged(book, "Names at their nastiest") as stage:
        configuration = with_mess(stage)
        stage.answered(DANA, f"propose '{configuration.policies[1].name}' limit 9 <!channel>")
        stage.opens_home(DANA, "Home")
