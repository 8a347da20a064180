import { useEffect, useState } from 'preact/hooks';

/** Whether the page is dark: as the person chose, or else as the system. */
export function useDark(): boolean {
  const [isDark, setDark] = useState(readDark);
  useEffect(() => {
    const read = () => setDark(readDark());
    const system = matchMedia(DARK);
    system.addEventListener('change', read);
    const chosen = new MutationObserver(read);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', read);
      chosen.disconnect();
    };
  }, []);
  return isDark;
}

const DARK = '(prefers-color-scheme: dark)';

function readDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === 'dark' || (theme !== 'light' && matchMedia(DARK).matches);
}
