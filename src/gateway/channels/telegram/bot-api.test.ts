import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { systemClock } from '../../../clock.ts';
import { createGuardedEgress } from '../../../egress/guarded-egress.ts';
import { closeServer, listen } from '../../../listen.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { readText } from '../../../testing/read-text.ts';
import { createBotApi } from './bot-api.ts';
import { BotApiError } from './wire/bot-api-error.ts';
import { Upload } from './wire/request-body.ts';

const TOKEN = '4242:canary-Token_of-the-bot';
const { fetch } = createGuardedEgress({ privateHosts: () => [], environment: {} });

async function serve(t: TestContext, listener: RequestListener) {
  const server = createServer(listener);
  t.after(() => closeServer(server));
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  return { apiRoot: `http://127.0.0.1:${port}/` };
}
