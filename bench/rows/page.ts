import { measureIdle } from '../page/page-idle.ts';
import { measurePage } from '../page/page-scale.ts';
import { measureStart } from '../page/page-start.ts';
import type { Row } from '../row.ts';

const tasks = 'with 5,000 and 10,000 messages, a streamed answer of 200 kB and an output of 10,000 lines';

/** Measures the processor time of tasks in a browser, so that other load on the machine does not count. */
const tasksAt = (slowdown: number): Pick<Row, 'anchor' | 'unit' | 'maxRounds' | 'open'> => ({
  anchor: 'the clock',
  unit: 'ms',
  maxRounds: 3,
  async open({ programs }) {
    return async () => {
      const scale = Object.entries(await measurePage(programs, { slowdown }));
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
});

export const pageRows: readonly Row[] = [
  { name: 'page', what: `longest task of the page, ${tasks}`, target: { atMost: 50 }, ...tasksAt(1) },
  { name: 'page-slow', what: `longest task of the page on a processor four times slower, ${tasks}`, ...tasksAt(4) },
  {
    name: 'page-start',
    what: 'from the address to a page that takes a message, on a processor four times slower',
    anchor: 'the clock',
    unit: 'ms',
    target: { atMost: 1_500 },
    beside: [{ figure: 'cpuMs', label: 'processor time of the main thread', unit: 'ms' }],
    maxRounds: 3,
    async open({ programs }) {
      return async () => {
        const { interactiveMs, ...figures } = await measureStart(programs);
        return { value: interactiveMs, figures };
      };
    },
  },
  {
    name: 'page-idle',
    what: 'processor time of the browser in a second in which an agent works silently',
    anchor: 'the clock',
    unit: 'ms',
    beside: [{ figure: 'idle', label: 'while nothing runs', unit: 'ms' }],
    maxRounds: 1,
    async open({ programs }) {
      return async () => {
        const { running, idle } = await measureIdle(programs);
        return { value: running, figures: { idle } };
      };
    },
  },
];
