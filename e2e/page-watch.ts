import type { Page } from 'playwright-core';

/** What the page was seen doing since it was watched, or since the last look. */
export interface PageFigures {
  /** The most blocks of a conversation that were in the document at once. */
  blocks: number;
  /** Tasks that kept the page from answering for more than 50 ms. */
  longTasks: number[];
  /** The longest stretch between two frames, in milliseconds. */
  longestFrameMs: number;
}

declare global {
  interface Window {
    watched: PageFigures;
  }
}

/** Watches every document that the page opens from now on. */
export async function watchPage(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.watched = { blocks: 0, longTasks: [], longestFrameMs: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.watched.longTasks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
    let lastMs = performance.now();
    const look = (nowMs: number) => {
      const { watched } = window;
      watched.blocks = Math.max(watched.blocks, document.querySelectorAll('.block').length);
      watched.longestFrameMs = Math.max(watched.longestFrameMs, nowMs - lastMs);
      lastMs = nowMs;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

/** What was seen since the last time. */
export async function takeFigures(page: Page): Promise<PageFigures> {
  return page.evaluate(async () => {
    // Entries are handed over when there is time.
    await new Promise((resolve) => requestIdleCallback(resolve));
    const seen = window.watched;
    window.watched = { blocks: 0, longTasks: [], longestFrameMs: 0 };
    return seen;
  });
}

/** Moves the transcript by so many pixels a frame until it stands at its start (`up`) or end, everything loaded. */
export async function scrollThrough(page: Page, pixelsPerFrame: number): Promise<void> {
  await page.evaluate(async (pixels) => {
    const view = document.querySelector('.transcript');
    if (!view) throw new Error('no transcript');
    const frame = () => new Promise(requestAnimationFrame);
    const isOver = () =>
      pixels < 0
        ? view.scrollTop < 1 && !document.querySelector('.earlier')
        : view.scrollHeight - view.scrollTop - view.clientHeight < 2;
    for (let still = 0; still < 30; still = isOver() ? still + 1 : 0) {
      view.scrollTop += pixels;
      await frame();
    }
  }, pixelsPerFrame);
}
