// The playground's page: the chat, the cluster and the gallery, by the address.
//
// For tests in a browser, `data-testid` names what they look for:
//   everywhere   banner, connection-state (its text: "live", "connecting…", "reconnecting…"),
//                theme, notice
//   chat         person-switch (a <select> of person ids), home-link, dm-link,
//                channel-link (data-channel), menu, earlier, room, home, messages, empty-channel,
//                message (data-ts, data-author, data-ephemeral), open-thread, reply, thread,
//                composer, send, thread-composer, thread-send, modal, modal-submit, modal-close,
//                modal-close-all, field-error, confirm, announcer, split, tour-toggle
//   in blocks    elements have data-action (their action id), buttons data-value too, input
//                blocks data-block; not-drawn and not-known stand for what could not be drawn
//   tour         tour, tour-step (data-step, data-state="now|done|skipped|todo"), tour-skip,
//                tour-restart, tour-leave
//   cluster      cluster, pool (data-pool), job (data-task, data-status), queue (data-queue),
//                agent, node, done, add-job, add-queue, add-count, speed, stream, count-<name>
//   gallery      gallery-find; every entry has data-gallery-entry (its slug), data-kind, data-state
import { createRoot } from "react-dom/client";
import { ClusterPage } from "./cluster/ClusterPage";
import { GalleryPage } from "./gallery/GalleryPage";
import { Boundary } from "./kit/Boundary";
import { SlackPage } from "./slack/SlackPage";
import "slack-blocks-to-jsx/dist/style.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/chat.css";
import "./styles/kit.css";
import "./styles/dialog.css";
import "./styles/cluster.css";
import "./styles/tour.css";
import "./styles/gallery.css";

const PAGES: Record<string, () => React.ReactNode> = {
  "/cluster": () => <ClusterPage />,
  "/gallery": () => <GalleryPage />,
};

const page = PAGES[location.pathname.replace(/\/$/, "")] ?? (() => <SlackPage />);
const root = document.getElementById("root");
if (root) createRoot(root).render(<Boundary>{page()}</Boundary>);
