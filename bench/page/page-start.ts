import { watchPage } from '../../e2e/support/clients/page-watch.ts';
import type { Programs } from '../stage.ts';
import { slowDown, usePage } from './measured-page.ts';

/** How long the page takes to start on a processor that is four times slower, for a person who is logged in. */
export interface PageStart {
  /** From the address to a field that takes a message, with the conversation below it. */
  interactiveMs: number;
  /** Processor time of the page's main thread until then. On an idle machine, `interactiveMs` is little more. */
  cpuMs: number;
  longestTaskCpuMs: number;
  /** Bytes that came over the network at the first start, and at the next one with the browser's cache. */
  firstBytes: number;
  nextBytes: number;
}

const SLOWDOWN = 4;

export async function measureStart(programs: Pick<Programs, 'product' | 'seeds'>): Promise<PageStart> {
  return usePage(programs, { short: 40 }, async ({ page, daemon }) => {
    await page
      .context()
      .request.post(new URL('/v1/api/auth/login', daemon.url).href, { data: { token: daemon.token } });
    const session = await page.context().newCDPSession(page);
    let bytes = 0;
    await session.send('Network.enable');
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const cpuMs = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return Math.round((metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000);
    };
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    const watch = await watchPage(page);
    const start = async () => {
      bytes = 0;
      await page.goto(daemon.url);
      const interactiveMs = await page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            const look = () =>
              document.querySelector('#message') && document.querySelector('.answer')
                ? requestAnimationFrame(() => resolve(performance.now()))
                : requestAnimationFrame(look);
            look();
          }),
      );
      return { interactiveMs, bytes, cpuMs: await cpuMs() };
    };
    await slowDown(page, SLOWDOWN);
    const first = await start();
    const { longestTaskCpuMs } = await watch.look();
    const next = await start();
    return {
      interactiveMs: Math.round(first.interactiveMs),
      cpuMs: first.cpuMs,
      longestTaskCpuMs,
      firstBytes: first.bytes,
      nextBytes: next.bytes,
    };
  });
}
