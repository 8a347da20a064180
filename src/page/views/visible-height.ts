/**
 * Keeps `--visible-height` at what a keyboard on glass leaves of the window. Where the browser shrinks the page itself
 * it is the same as the window's height; where it does not (iOS), the composer would lie under the keyboard.
 */
export function followVisibleHeight(): void {
  const view = window.visualViewport;
  if (!view) return;
  const follow = () => {
    const isZoomed = view.scale > 1.01; // somebody looks closer: the page keeps its size
    if (!isZoomed) document.documentElement.style.setProperty('--visible-height', `${view.height}px`);
  };
  view.addEventListener('resize', follow);
  follow();
}
