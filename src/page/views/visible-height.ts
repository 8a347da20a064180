/**
 * Keeps `--visible-height` at the height that an on-screen keyboard leaves free. Some browsers shrink the page
 * themselves; in others (iOS) the keyboard would cover the composer.
 */
export function followVisibleHeight(): void {
  const view = window.visualViewport;
  if (!view) return;
  const follow = () => {
    const isZoomed = view.scale > 1.01; // zoomed in by a person: the page keeps its size
    if (!isZoomed) document.documentElement.style.setProperty('--visible-height', `${view.height}px`);
  };
  view.addEventListener('resize', follow);
  follow();
}
