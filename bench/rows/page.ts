import { measurePage } from '../page/page-scale.ts';
import type { Row } from '../row.ts';

/** Measures the processor time of tasks in a browser, so that other load on the machine does not count. */
export const pageRow: Row = {
  name: 'page',
  what: 'longest task of the page, with 5,000 and 10,000 messages, a streamed answer of 200 kB and an output of 10,000 lines',
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost: 50 },
  maxRounds: 3,
  async open({ programs }) {
    return async () => {
      const scale = Object.entries(await measurePage(programs, { slowdown: 1 }));
      const each = Object.fromEntries(scale.map(([phase, { longestTaskCpuMs }]) => [phase, longestTaskCpuMs]));
      const most = (figure: 'blocks' | 'longTasks' | 'longestTaskMs') =>
        Math.max(...scale.map(([, figures]) => figures[figure]));
      return {
        value: Math.max(...Object.values(each)),
        figures: {
          ...each,
          blocks: most('blocks'),
          longTasks: most('longTasks'),
          longestTaskMs: most('longestTaskMs'),
        },
      };
    };
  },
};
