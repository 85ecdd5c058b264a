// Whether the tab is in front.

import { useEffect, useState } from "preact/hooks";

export function useVisible(): boolean {
  const [isVisible, setVisible] = useState(() => !document.hidden);
  useEffect(() => {
    const look = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return isVisible;
}
