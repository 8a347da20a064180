import path from 'node:path';
import { workstreamEndpoints } from '../../protocol/http/workstream.ts';
import { postText } from '../load/http-connection.ts';
import type { ModelTasks } from '../load/model.ts';
import type { PostTasks } from '../load/posts.ts';
import { perCpuSecond } from '../process-costs.ts';
import { type Row, ratio } from '../row.ts';
import type { Server } from '../stage.ts';
import { createWorkstreams } from '../workstreams.ts';

export const postRow: Row = {
  name: 'post',
  what: 'HTTP POST of a cheap authenticated call (approve without a pending approval)',
  anchor: 'stock Express with express.json',
  unit: 'x',
  target: { atLeast: 1.3 },
  async open(stage) {
    const product = await stage.product();
    const { token } = product;
    const anchor = await stage.anchor('post', { TOKEN: token });
    const [wsId = ''] = await createWorkstreams(product, 1);
    const request = postText(workstreamEndpoints.approve.path, { ws_id: wsId, approved: true }, token);
    const load = stage.load<PostTasks>('posts');
    const each = stage.quick ? 150 : 1_000;
    const rate = ({ pid, port }: Server) =>
      perCpuSecond(pid, () => load.ask('run', { port, request, connections: 32, each }));
    // Late compilation does not count.
    for (let time = 0; time < (stage.quick ? 1 : 3); time += 1)
      for (const server of [product, anchor]) await rate(server);
    return async () => ratio({ product: await rate(product), anchor: await rate(anchor) });
  },
};

/** The product's cost includes everything a message triggers: storing the run, starting its turn, calling the model. */
export const sendRow: Row = {
  name: 'send',
  what: 'HTTP POST of a message, until the model is called',
  anchor: 'stock Express, one SQLite row; calls no model',
  unit: 'x',
  target: { atLeast: 0.1 },
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
    const request = postText(workstreamEndpoints.send.path, { ws_id: wsIds[0], message: 'Say something.' }, token);
    const posts = { port: anchor.port, request, connections: 16 };
    /** As many times that late compilation matters as little as with the anchor, which is sent thousands of posts. */
    const times = stage.quick ? 1 : 5;
    const sendToAll = async () => {
      const rate = await perCpuSecond(product.pid, () => model.ask('begin', { port, token }));
      await model.ask('finish', undefined);
      return rate;
    };
    return async () => {
      let costs = 0;
      for (let time = 0; time < times; time += 1) costs += 1 / (await sendToAll());
      return ratio({
        product: times / costs,
        anchor: await perCpuSecond(anchor.pid, () => load.ask('run', { ...posts, each: stage.quick ? 100 : 500 })),
      });
    };
  },
};
