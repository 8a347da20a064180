import type { Page } from 'playwright-core';

/** Elements that begin, or end, at the same place. */
export interface Aligned {
  selector: string;
  edges: readonly ('left' | 'right')[];
}

export interface GeometryRules {
  /** Groups of elements with common edges. Those of one parent are compared. */
  aligned: readonly Aligned[];
  /** Controls that lie on others on purpose, such as the buttons of a row that is a button itself. */
  mayCover: string;
  /** Elements that scroll up and down, and never to the side. */
  upright: string;
  /** Elements that cut their contents on purpose and show it in another way than with an ellipsis. */
  mayCut: string;
}

/**
 * What is wrong with the geometry of the page as it is drawn now, one sentence each: contents wider than the page or than a
 * container that does not scroll, text that is cut without an ellipsis, controls on top of each other, targets that are too
 * small (WCAG 2.5.8, with its exceptions for inline targets and for spacing), and edges that are not aligned.
 */
export async function geometryProblems(page: Page, rules: GeometryRules): Promise<string[]> {
  const script = `(() => { ${PARTS.map(String).join('\n')}
    return findProblems(${JSON.stringify(rules)}); })()`;
  return page.evaluate<string[]>(script);
}

// These run in the page, where they see only each other.

const PARTS = [
  findProblems,
  findOverflows,
  isLoose,
  findCuts,
  isCutOnPurpose,
  findOverlaps,
  commonOf,
  isLayered,
  findSmallTargets,
  hasRoom,
  findMisaligned,
  listControls,
  targetOf,
  visiblePart,
  isShown,
  wordsFor,
];

function findProblems(rules: GeometryRules): string[] {
  const all = [...document.querySelectorAll<HTMLElement>('body *')].filter(isShown);
  const controls = listControls(all);
  return [
    ...findOverflows(all, rules),
    ...findCuts(all, rules),
    ...findOverlaps(controls, rules),
    ...findSmallTargets(controls),
    ...findMisaligned(rules),
  ];
}

/** Contents that are wider than the page, or than an element that neither scrolls to the side nor cuts. */
function findOverflows(all: readonly HTMLElement[], { upright }: GeometryRules): string[] {
  const found: string[] = [];
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) found.push(`the page is ${wide} px wider than the window`);
  const spills = all.filter((element) => {
    const { overflowX, display } = getComputedStyle(element);
    const isWide = element.scrollWidth > element.clientWidth + 1;
    if (isWide && upright !== '' && element.matches(upright)) return true;
    return isWide && overflowX === 'visible' && !display.startsWith('inline') && !isLoose(element);
  });
  for (const element of spills)
    if (!spills.some((other) => other !== element && element.contains(other)) && element.clientWidth > 0)
      found.push(`the contents of ${wordsFor(element)} are ${element.scrollWidth - element.clientWidth} px too wide`);
  return found;
}

/** Whether something around the element scrolls, or what is too wide is a layer of its own, such as an open menu. */
function isLoose(element: HTMLElement): boolean {
  for (let at = element.parentElement; at; at = at.parentElement)
    if (/auto|scroll/.test(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth) return true;
  const { right } = element.getBoundingClientRect();
  return [...element.querySelectorAll('*')].some(
    (one) => getComputedStyle(one).position === 'absolute' && one.getBoundingClientRect().right > right + 1,
  );
}

/** Text that an element cuts off. */
function findCuts(all: readonly HTMLElement[], { mayCut }: GeometryRules): string[] {
  return all.flatMap((element) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    const cuts = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
    const x = cuts(overflowX) ? element.scrollWidth - element.clientWidth : 0;
    const y = cuts(overflowY) ? element.scrollHeight - element.clientHeight : 0;
    if ((x <= 1 && y <= 2) || element.innerText?.trim() === '' || isCutOnPurpose(element, mayCut)) return [];
    return [`${wordsFor(element)} cuts off ${x > 1 ? `${x} px at its side` : `${y} px at its bottom`}`];
  });
}

function isCutOnPurpose(element: HTMLElement, mayCut: string): boolean {
  const { textOverflow, webkitLineClamp } = getComputedStyle(element);
  const isClamped = textOverflow === 'ellipsis' || (webkitLineClamp !== 'none' && webkitLineClamp !== '');
  // What the element cuts may be an element that has the ellipsis.
  return (
    isClamped ||
    element.matches('.hidden-text, select, input, textarea') ||
    (mayCut !== '' && element.closest(mayCut) !== null)
  );
}

/** Controls on top of each other. Those in a dialog or a menu lie above the rest. */
function findOverlaps(controls: readonly HTMLElement[], { mayCover }: GeometryRules): string[] {
  // A link in a text may have a part in each line.
  const parts = controls.flatMap((element) =>
    getComputedStyle(element).display === 'inline'
      ? [...element.getClientRects()].map((rect) => ({ element, rect }))
      : [{ element, rect: visiblePart(element) }],
  );
  return parts.flatMap((one, index) =>
    parts.slice(index + 1).flatMap((other) => {
      const { width, height } = commonOf(one.rect, other.rect);
      if (width <= 1 || height <= 1 || isLayered(one.element, other.element)) return [];
      if (mayCover !== '' && [one, other].some(({ element }) => element.closest(mayCover) !== null)) return [];
      const names = `${wordsFor(one.element)} and ${wordsFor(other.element)}`;
      return [`${names} overlap by ${Math.round(width)} × ${Math.round(height)} px`];
    }),
  );
}

/** How much of the page two rectangles share. */
function commonOf(one: DOMRect | undefined, other: DOMRect | undefined): { width: number; height: number } {
  if (!one || !other) return { width: 0, height: 0 };
  return {
    width: Math.min(one.right, other.right) - Math.max(one.left, other.left),
    height: Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top),
  };
}

/** Whether one is in the other, or in a layer above it. */
function isLayered(one: HTMLElement, other: HTMLElement): boolean {
  if (one.contains(other) || other.contains(one)) return true;
  const layerOf = (element: HTMLElement) => {
    let at: HTMLElement | null = element;
    while (at) {
      const { position } = getComputedStyle(at);
      if (position === 'absolute' || position === 'fixed' || position === 'sticky' || at.matches('dialog')) return at;
      at = at.parentElement;
    }
    return null;
  };
  return layerOf(one) !== layerOf(other);
}

/** Targets below 24 × 24 px, unless they have room around them or stand in a line of text. */
function findSmallTargets(controls: readonly HTMLElement[]): string[] {
  const least = 24;
  const targets = controls.map((element) => ({ element, rect: targetOf(element) }));
  return targets.flatMap(({ element, rect }) => {
    if (rect.width >= least - 0.5 && rect.height >= least - 0.5) return [];
    const inLine = getComputedStyle(element).display === 'inline' && element.closest('p, li, td, span, dd') !== null;
    if (inLine || hasRoom(element, rect, targets)) return [];
    return [`${wordsFor(element)} is only ${Math.round(rect.width)} × ${Math.round(rect.height)} px`];
  });
}

/** The spacing exception: a circle of 24 px around the middle of the target meets no other target, nor the circle of a small one. */
function hasRoom(
  element: HTMLElement,
  rect: DOMRect,
  targets: readonly { element: HTMLElement; rect: DOMRect }[],
): boolean {
  const middle = (of: DOMRect) => ({ x: of.left + of.width / 2, y: of.top + of.height / 2 });
  const { x, y } = middle(rect);
  return targets.every(({ element: other, rect: theirs }) => {
    if (other === element || other.contains(element) || element.contains(other) || isLayered(element, other))
      return true;
    const isSmall = theirs.width < 24 || theirs.height < 24;
    const far = middle(theirs);
    if (isSmall) return Math.hypot(far.x - x, far.y - y) >= 24;
    const gapX = Math.max(theirs.left - x, x - theirs.right, 0);
    const gapY = Math.max(theirs.top - y, y - theirs.bottom, 0);
    return Math.hypot(gapX, gapY) >= 12;
  });
}

/** Elements of one parent that do not begin, or end, where the others do. */
function findMisaligned({ aligned }: GeometryRules): string[] {
  return aligned.flatMap(({ selector, edges }) => {
    const shown = [...document.querySelectorAll<HTMLElement>(selector)].filter(isShown);
    const families = Map.groupBy(shown, (element) => element.parentElement);
    return [...families.values()].flatMap((family) =>
      edges.flatMap((edge) => {
        const places = family.map((element) => element.getBoundingClientRect()[edge]);
        const spread = Math.max(...places) - Math.min(...places);
        const off = family.find((_, index) => Math.abs((places[index] ?? 0) - (places[0] ?? 0)) > 1);
        return spread > 1 && off
          ? [`${wordsFor(off)} is ${Math.round(spread)} px off the ${edge} edge of its list`]
          : [];
      }),
    );
  });
}

function listControls(all: readonly HTMLElement[]): HTMLElement[] {
  const selector = 'button, a[href], input, select, textarea, summary, [role=tab], [role=option], [role=menuitem]';
  return all.filter((element) => {
    if (!element.matches(selector) || element.closest('[inert]') !== null) return false;
    // Under a modal dialog nothing can be pressed.
    const modal = document.querySelector('dialog:modal');
    return (modal === null || modal.contains(element)) && visiblePart(element) !== undefined;
  });
}

/** What can be pressed: a label belongs to its field. */
function targetOf(element: HTMLElement): DOMRect {
  const rect = element.getBoundingClientRect();
  const label = element.closest('label');
  if (!label || !element.matches('input[type=checkbox], input[type=radio], input[type=file]')) return rect;
  return label.getBoundingClientRect();
}

/** What containers that scroll leave of an element; undefined if nothing. */
function visiblePart(element: HTMLElement): DOMRect | undefined {
  let { left, top, right, bottom } = targetOf(element);
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (getComputedStyle(at).overflow === 'visible') continue;
    const outer = at.getBoundingClientRect();
    left = Math.max(left, outer.left);
    top = Math.max(top, outer.top);
    right = Math.min(right, outer.right);
    bottom = Math.min(bottom, outer.bottom);
  }
  return right - left > 1 && bottom - top > 1 ? new DOMRect(left, top, right - left, bottom - top) : undefined;
}

function isShown(element: HTMLElement): boolean {
  const { width, height } = element.getBoundingClientRect();
  return (
    width > 0 &&
    height > 0 &&
    element.closest('.hidden-text') === null &&
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  );
}

/** A name by which a person finds the element. */
function wordsFor(element: HTMLElement): string {
  const name = element.getAttribute('aria-label') ?? element.innerText?.trim().split('\n')[0]?.slice(0, 40) ?? '';
  const style =
    typeof element.className === 'string' && element.className !== ''
      ? `.${element.className.trim().replace(/\s+/g, '.')}`
      : '';
  return `<${element.tagName.toLowerCase()}${style}> “${name}”`;
}
