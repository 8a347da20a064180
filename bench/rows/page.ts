import { measurePage } from '../page-scale.ts';
import type { Row } from '../row.ts';

/** Measures the processor time of tasks in a browser, so that other load on the machine does not count. */
export const pageRow: Row = {
  name: 'page',
  what: 'longest task of the page, with 5,000 messages and a streamed answer of 200 kB',
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost: 50 },
  maxRounds: 1,
  async open({ programs }) {
    return async () => {
      const { opening, scrollingUp, scrollingDown, streaming } = await measurePage(programs);
      const phases = [opening, scrollingUp, scrollingDown, streaming];
      const most = (figure: 'blocks' | 'longTasks' | 'longestTaskMs' | 'longestTaskCpuMs') =>
        Math.max(...phases.map((phase) => phase[figure]));
      return {
        value: most('longestTaskCpuMs'),
        figures: { blocks: most('blocks'), longTasks: most('longTasks'), longestTaskMs: most('longestTaskMs') },
      };
    };
  },
};
