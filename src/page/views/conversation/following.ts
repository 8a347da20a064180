import { type Signal, signal } from '@preact/signals';

/** How far from the end still counts as reading the end. */
const NEAR_PX = 48;
/** How far below the edge a held element stands. */
const HELD_PX = 16;
const UPWARD_KEYS = ['ArrowUp', 'PageUp', 'Home'];

/**
 * Keeps the reading position: the end of a growing conversation until the person scrolls away from it, then the place
 * they read, whatever is drawn, measured or loaded above it. Browsers differ in how well they do this themselves.
 */
export class Following {
  /** The end is in view and stays in view while the content grows. */
  readonly isFollowing: Signal<boolean> = signal(true);
  /** The content is read from its start, as the first steps are: growing does not move it. */
  isFromStart = false;
  /** Called after a scroll or a change of size, when other blocks may be in view. */
  onMove: () => void = () => undefined;
  #view: HTMLElement | undefined;
  #content: HTMLElement | undefined;
  /** The element at the upper edge of the view, and its offset in the content. */
  #anchor: { element: Element; top: number } | undefined;
  #seen = { scrollTop: 0, scrollHeight: 0, clientHeight: 0 };

  /** Starts following. `content` is inside `view`; its children keep their place. Returns a function that stops it. */
  attach(view: HTMLElement, content: HTMLElement): () => void {
    this.#view = view;
    this.#content = content;
    const sizes = new ResizeObserver(() => {
      this.settle();
      this.onMove();
    });
    sizes.observe(content);
    sizes.observe(view);
    // The observer of sizes comes too late for content that shrinks and grows again before the next frame: the view was
    // moved up by the shorter content, and its size is as before, so it would look as if the person had scrolled.
    const changes = new MutationObserver(() => this.settle());
    changes.observe(content, { childList: true, subtree: true });
    const leave = (event: WheelEvent | KeyboardEvent) => this.#onLeaving(event, view);
    const scroll = () => this.#onScroll(view);
    view.addEventListener('scroll', scroll, { passive: true });
    view.addEventListener('wheel', leave, { passive: true });
    view.addEventListener('keydown', leave);
    return () => {
      sizes.disconnect();
      changes.disconnect();
      view.removeEventListener('scroll', scroll);
      view.removeEventListener('wheel', leave);
      view.removeEventListener('keydown', leave);
    };
  }

  /** Call this after a change of the content, before it is painted. */
  settle(): void {
    const view = this.#view;
    if (!view || this.isFromStart) return;
    if (this.isFollowing.peek()) view.scrollTop = view.scrollHeight;
    else if (this.#anchor?.element.isConnected) {
      const moved = this.#topOf(this.#anchor.element) - this.#anchor.top;
      if (Math.abs(moved) >= 1) view.scrollTop = this.#lastTop(view) + moved;
    }
    this.#remember(view);
  }

  /** Where the view was. The browser has already moved it up if the content became too short for that place. */
  #lastTop(view: HTMLElement): number {
    const { scrollTop, scrollHeight, clientHeight } = measure(view);
    const isCut = scrollHeight < this.#seen.scrollHeight && scrollHeight - scrollTop - clientHeight < 1;
    return isCut ? Math.max(scrollTop, this.#seen.scrollTop) : scrollTop;
  }

  readonly jump = (): void => {
    this.isFollowing.value = true;
    this.#view?.scrollTo({ top: this.#view.scrollHeight });
  };

  /** Shows an element, or a range in it, and no longer follows the end. */
  hold(element: Element, range?: Range): void {
    const view = this.#view;
    if (!view) return;
    this.isFollowing.value = false;
    const [edge, at] = range ? [range.getBoundingClientRect().top, view.clientHeight / 3] : [topOn(element), HELD_PX];
    view.scrollTop += edge - topOn(view) - at;
    this.#seen = measure(view);
    this.#anchor = { element, top: this.#topOf(element) };
  }

  #onScroll(view: HTMLElement): void {
    if (this.isFromStart) return;
    const now = measure(view);
    const seen = this.#seen;
    const isNearEnd = now.scrollHeight - now.scrollTop - now.clientHeight < NEAR_PX;
    const isResized = now.scrollHeight !== seen.scrollHeight || now.clientHeight !== seen.clientHeight;
    if (isNearEnd && now.scrollTop >= seen.scrollTop) this.isFollowing.value = true;
    // A change of size moves the view too, and settle handles it. Any other move up was made by a person.
    else if (!isResized && now.scrollTop < seen.scrollTop) this.isFollowing.value = false;
    if (!isResized) this.#remember(view);
    this.onMove();
  }

  /** Stops following at once: otherwise streamed text would pull the view back before the scroll becomes visible. */
  #onLeaving(event: WheelEvent | KeyboardEvent, view: HTMLElement): void {
    const isUp = 'deltaY' in event ? event.deltaY < 0 : UPWARD_KEYS.includes(event.key);
    if (!isUp || this.isFromStart || view.scrollTop === 0 || isForInside(event.target, view)) return;
    this.isFollowing.value = false;
  }

  #remember(view: HTMLElement): void {
    this.#seen = measure(view);
    const element = this.#content && elementAt(this.#content, view.getBoundingClientRect().top);
    this.#anchor = element && { element, top: this.#topOf(element) };
  }

  #topOf(element: Element): number {
    return element.getBoundingClientRect().top - (this.#content?.getBoundingClientRect().top ?? 0);
  }
}

/** How deep into a block the anchor is searched: a long answer can grow above the line being read. */
const DEPTH = 4;

/** The first element that reaches below a line of the screen. Placeholders of undrawn blocks do not count. */
function elementAt(content: Element, line: number): Element | undefined {
  let found: Element | undefined;
  for (let depth = 0, within = content; depth < DEPTH; depth += 1) {
    const next = [...within.children].find(
      (child) => !child.classList.contains('undrawn') && child.getBoundingClientRect().bottom > line,
    );
    if (!next) break;
    found = next;
    within = next;
  }
  return found;
}

const topOn = (element: Element): number => element.getBoundingClientRect().top;

const measure = ({ scrollTop, scrollHeight, clientHeight }: Element) => ({ scrollTop, scrollHeight, clientHeight });

/** Whether a field or an inner scroll box (output, a long preview) handles the move itself. */
function isForInside(target: EventTarget | null, view: Element): boolean {
  if (target instanceof HTMLInputElement) return true;
  for (let at = target instanceof Element ? target : null; at && at !== view; at = at.parentElement) {
    if (at.scrollTop > 0) return true;
  }
  return false;
}
