import type { ModelTasks } from '../load/model.ts';
import type { Row } from '../row.ts';
import { createWorkstreams } from '../workstreams.ts';

/** What commands do to a machine, for some seconds. */
const ATTACKS = {
  fork: ':(){ :|:& };:; sleep 3',
  allocation: 'head -c 10G /dev/zero | tail',
  yes: 'timeout 5 yes',
  line: "head -c 1G /dev/zero | timeout 5 tr '\\0' x",
  tmp: 'timeout 5 head -c 10G /dev/zero > /tmp/full; rm -f /tmp/full',
};

export const attacksRow: Row = {
  name: 'attacks',
  what: '99th percentile of the wait for /health while a command forks without end, takes 10 GB, prints without end or in one line of 1 GB, or fills /tmp; the worst of the five',
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost: 100 },
  maxRounds: 3,
  async open(stage) {
    const model = stage.load<ModelTasks>('model');
    const url = await model.ask('serveModel', undefined);
    const limits = { memoryMb: 512, tmpMb: 256 };
    const product = await stage.product({ config: { tools: { limits } }, env: { OPENAI_BASE_URL: url } });
    const { port, token } = product;
    return async () => {
      const figures: Record<string, number> = {};
      for (const [name, command] of Object.entries(ATTACKS)) {
        const wsIds = await createWorkstreams(product, 1, { auto_approve: true });
        await model.ask('read', { port, token, wsIds });
        const tookMs = (await model.ask('attack', { port, token, command })).sort((a, b) => a - b);
        figures[name] = tookMs[Math.floor(tookMs.length * 0.99)] ?? Number.NaN;
      }
      return { value: Math.max(...Object.values(figures)), figures };
    };
  },
};
