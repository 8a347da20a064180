import type { CDPSession, Page } from 'playwright-core';

/** What the page was seen doing since it was watched, or since the last look. */
export interface PageFigures {
  /** The most blocks of a conversation that were in the document at once. */
  blocks: number;
  /** Tasks that kept the page from answering for more than 50 ms: how many, and the longest. */
  longTasks: number;
  longestTaskMs: number;
  /** The processor time of the task that took most of it: what the longest would be on a machine that does nothing else. */
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

/** Watches every document that the page opens from now on; each look answers what was seen since the last one. */
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
    // Entries are handed over when there is time.
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

/** Traces until the answer is called, which gives the processor times of the page's tasks. */
async function traceTasks(session: CDPSession): Promise<() => Promise<number[]>> {
  const events: TraceEvent[] = [];
  const keep = ({ value }: { value: object[] }) => void events.push(...(value as TraceEvent[])); // as Chromium writes it
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
