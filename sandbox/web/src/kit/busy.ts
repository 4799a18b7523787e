// While the app has not answered yet, what was pressed says so and is not pressed twice.
import { useEffect, useRef, useState } from "react";

export function useBusy(): [boolean, (deed: () => Promise<void>) => void] {
  const [isBusy, setBusy] = useState(false);
  const there = useRef(true);
  useEffect(() => {
    there.current = true;
    return () => {
      there.current = false;
    };
  }, []);
  const run = (deed: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    deed().finally(() => there.current && setBusy(false));
  };
  return [isBusy, run];
}
