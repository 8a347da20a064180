import type { CDPSession, Page } from 'playwright-core';

/** Measurements of the page since the start or the last sample. */
export interface PageFigures {
  /** The maximum number of conversation blocks in the document at the same time. */
  blocks: number;
  /** Tasks that blocked the page for more than 50 ms: their number, and the longest one. */
  longTasks: number;
  longestTaskMs: number;
  /** The highest processor time of a task: how long it would take on an idle machine. */
  longestTaskCpuMs: number;
}

interface Watched {
  blocks: number;
  longTasks: number[];
}

declare global {
  interface Window {
    watched: Watched;
  }
}

/** Watches every document that the page opens from now on; each sample covers the time since the last one. */
export async function watchPage(page: Page): Promise<{ look(): Promise<PageFigures> }> {
  await page.addInitScript(() => {
    window.watched = { blocks: 0, longTasks: [] };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.watched.longTasks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
    const look = () => {
      window.watched.blocks = Math.max(window.watched.blocks, document.querySelectorAll('.block').length);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  const session = await page.context().newCDPSession(page);
  let endTrace = await traceTasks(session);
  return {
    async look() {
      const { blocks, longTasks } = await takeWatched(page);
      const cpuMs = await endTrace();
      endTrace = await traceTasks(session);
      return {
        blocks,
        longTasks: longTasks.length,
        longestTaskMs: Math.round(Math.max(0, ...longTasks)),
        longestTaskCpuMs: Math.round(Math.max(0, ...cpuMs)),
      };
    },
  };
}

function takeWatched(page: Page): Promise<Watched> {
  return page.evaluate(async () => {
    // Entries are delivered with a delay.
    await new Promise((resolve) => requestIdleCallback(resolve));
    const seen = window.watched;
    window.watched = { blocks: 0, longTasks: [] };
    return seen;
  });
}

/** Times in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  args: { name?: string };
}

/** Traces until the returned function is called, which returns the processor times of the page's tasks. */
async function traceTasks(session: CDPSession): Promise<() => Promise<number[]>> {
  const events: TraceEvent[] = [];
  const keep = ({ value }: { value: object[] }) => void events.push(...(value as TraceEvent[])); // in the format of Chromium
  session.on('Tracing.dataCollected', keep);
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'] },
  });
  return async () => {
    const over = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await over;
    session.off('Tracing.dataCollected', keep);
    const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
    const names = events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
    const pages = new Set(names.map(threadOf));
    const tasks = events.filter((event) => event.name.endsWith('RunTask') && pages.has(threadOf(event)));
    return tasks.map(({ tdur = 0 }) => tdur / 1_000);
  };
}

/** Scrolls the transcript by this many pixels per frame until its start (`up`) or end is reached and everything is loaded. */
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
