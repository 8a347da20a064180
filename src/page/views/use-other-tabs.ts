import { useEffect } from 'preact/hooks';

/** Reads what another tab of this browser has stored. */
export function useOtherTabs(stored: { follow(): void }): void {
  useEffect(() => {
    const follow = () => stored.follow();
    window.addEventListener('storage', follow);
    return () => window.removeEventListener('storage', follow);
  }, [stored]);
}
