import path from 'node:path';
import { workstreamEndpoints } from '../../protocol/http/workstream.ts';
import { postText } from '../load/http-connection.ts';
import type { ModelTasks } from '../load/model.ts';
import type { PostTasks } from '../load/posts.ts';
import { perCpuSecond } from '../process-costs.ts';
import { type Row, ratio } from '../row.ts';
import { createWorkstreams } from '../workstreams.ts';

export const postRow: Row = {
  name: 'post',
  what: 'HTTP POST of a cheap authenticated call (approve with nothing waiting)',
  anchor: 'stock Express with express.json',
  unit: 'x',
  target: { atLeast: 2 },
  async open(stage) {
    const product = await stage.product();
    const { token } = product;
    const anchor = await stage.anchor('post', { TOKEN: token });
    const [wsId = ''] = await createWorkstreams(product, 1);
    const request = postText(workstreamEndpoints.approve.path, { ws_id: wsId, approved: true }, token);
    const loads = { product: stage.load<PostTasks>('posts'), anchor: stage.load<PostTasks>('posts') };
    await loads.product.ask('open', { port: product.port, count: 32 });
    await loads.anchor.ask('open', { port: anchor.port, count: 32 });
    const each = stage.quick ? 150 : 1_000;
    return async () =>
      ratio({
        product: await perCpuSecond(product.pid, () => loads.product.ask('run', { request, each })),
        anchor: await perCpuSecond(anchor.pid, () => loads.anchor.ask('run', { request, each })),
      });
  },
};

/** The product's part includes what a message sets off: the run on record, its turn begun, the model asked. */
export const sendRow: Row = {
  name: 'send',
  what: 'HTTP POST of a message, until the model is asked',
  anchor: 'stock Express, one SQLite row; asks no model',
  unit: 'x',
  async open(stage) {
    const model = stage.load<ModelTasks>('model');
    const url = await model.ask('serveModel', undefined);
    const count = stage.quick ? 40 : 200;
    const config = { server: { maxWorkstreams: count + 1 } };
    const product = await stage.product({ config, env: { OPENAI_BASE_URL: url } });
    const { port, token } = product;
    const database = path.join(await stage.folder(), 'anchor.db');
    const anchor = await stage.anchor('post', { TOKEN: token, DATABASE: database });
    const wsIds = await createWorkstreams(product, count);
    await model.ask('read', { port, token, wsIds });
    const load = stage.load<PostTasks>('posts');
    await load.ask('open', { port: anchor.port, count: 16 });
    const request = postText(workstreamEndpoints.send.path, { ws_id: wsIds[0], message: 'Say something.' }, token);
    return async () => {
      const sent = await perCpuSecond(product.pid, () => model.ask('begin', { port, token }));
      await model.ask('finish', undefined);
      return ratio({
        product: sent,
        anchor: await perCpuSecond(anchor.pid, () => load.ask('run', { request, each: stage.quick ? 100 : 500 })),
      });
    };
  },
};
