// The modal on top of the person's stack. Those below are kept by the workspace, values and all.
import { useMemo, useState } from "react";
import { ActingIn } from "../kit/acting";
import { Blocks } from "../kit/Blocks";
import { Dialog } from "../ui/Dialog";
import type { View } from "./model";
import { useSeen, useSession } from "./session";

export function Modals() {
  const seen = useSeen();
  const top = seen.views.at(-1);
  return top ? <Modal key={top.id} view={top} depth={seen.views.length} /> : null;
}

function Modal({ view, depth }: { view: View; depth: number }) {
  const { live, typing, acting: actingAt, fails } = useSession();
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  const acting = useMemo(
    () => actingAt({ where: { view: view.id }, values: view.values, errors: view.errors }),
    [actingAt, view],
  );
  const submit = async () => {
    if (isBusy) return;
    setBusy(true);
    setTrouble("");
    try {
      await typing.flush();
      const said = await live.do<{ error: string }>("submit", { view: view.id });
      if (said.error) setTrouble(TROUBLE);
    } catch (error) {
      fails(error);
    } finally {
      setBusy(false);
    }
  };
  const close = async (whole: boolean) => {
    await typing.flush();
    await live.do("close_view", { view: view.id, whole_stack: whole }).catch(fails);
  };
  return (
    <Dialog
      title={view.title}
      onEscape={() => void close(false)}
      testId="modal"
      aside={
        <>
          {depth > 1 ? <span className="depth">{depth} deep</span> : null}
          <button
            type="button"
            className="button is-plain"
            aria-label="Close all"
            data-testid="modal-close-all"
            onClick={() => void close(true)}
          >
            ✕
          </button>
        </>
      }
    >
      <form
        className="dialog-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (view.submit) void submit();
        }}
      >
        <ActingIn value={acting}>
          <div className="dialog-body" data-view={view.id} data-callback={view.callback_id}>
            {trouble ? (
              <p className="trouble" role="alert">
                {trouble}
              </p>
            ) : null}
            <Blocks blocks={view.blocks} />
          </div>
        </ActingIn>
        <footer className="dialog-foot">
          <button
            type="button"
            className="button"
            data-testid="modal-close"
            onClick={() => void close(false)}
          >
            {view.close || "Cancel"}
          </button>
          {view.submit ? (
            <button
              type="submit"
              className="button is-solid"
              aria-busy={isBusy}
              data-testid="modal-submit"
            >
              {view.submit}
            </button>
          ) : null}
        </footer>
      </form>
    </Dialog>
  );
}

const TROUBLE = "We had some trouble connecting: the app did not answer in time. Try again?";
