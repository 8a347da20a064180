import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { systemTimers } from '../../protocol/client/timers.ts';
import { serveTasks } from '../task-process.ts';

/** The Bot API and the model in one process, so that one clock measures both. */
interface Bot {
  poll: ServerResponse | undefined;
  nextUpdate: number;
  /** Called when a poll is open, when the model is asked, and when something was sent. */
  onPoll(): void;
  onSent(): void;
}

const bots = new Map<string, Bot>();
let onAsked: () => void = () => undefined;

const tasks = {
  /** Opens both servers. */
  async serve(_: undefined): Promise<{ apiRoot: string; modelUrl: string }> {
    return { apiRoot: await listen(onBotCall), modelUrl: `${await listen(onModelCall)}/v1` };
  },

  /**
   * People write to a bot, one after the other. Returns how long each message took from the answer to the poll until the model
   * was asked.
   */
  async messages({ token, people }: { token: string; people: number[] }): Promise<number[]> {
    const tookMs: number[] = [];
    for (const id of people) {
      const bot = botOf(token);
      if (!bot.poll) await new Promise<void>((resolve) => (bot.onPoll = resolve));
      const asked = new Promise<number>((resolve) => (onAsked = () => resolve(performance.now())));
      const sent = new Promise<void>((resolve) => (bot.onSent = resolve));
      const sentMs = performance.now();
      answer(takePoll(bot), [updateOf(bot, id)]);
      tookMs.push((await asked) - sentMs);
      await sent;
    }
    return tookMs;
  },
};

export type TelegramTasks = typeof tasks;

/** What a daemon asks before it polls. */
const ASKED_AT_START: Record<string, unknown> = {
  getMe: { id: 4242, is_bot: true, first_name: 'Bench', username: 'bench_bot' },
  getMyCommands: [],
  getWebhookInfo: { url: '', has_custom_certificate: false, pending_update_count: 0 },
};

async function listen(listener: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

function botOf(token: string): Bot {
  const bot = bots.get(token) ?? { poll: undefined, nextUpdate: 1, onPoll: () => undefined, onSent: () => undefined };
  bots.set(token, bot);
  return bot;
}

function takePoll(bot: Bot): ServerResponse {
  const { poll } = bot;
  if (!poll) throw new Error('nobody polls');
  bot.poll = undefined;
  return poll;
}

function onBotCall(request: IncomingMessage, response: ServerResponse): void {
  const [, token = '', method] = /^\/bot([^/]+)\/(\w+)/.exec(request.url ?? '') ?? [];
  const bot = botOf(token);
  request.setEncoding('utf8');
  let body = '';
  request.on('data', (text: string) => {
    body += text;
  });
  request.once('end', () => {
    const known = method === undefined ? undefined : ASKED_AT_START[method];
    if (known !== undefined) answer(response, known);
    else if (method === 'getUpdates') onPoll(bot, response, JSON.parse(body).timeout);
    else if (method === 'sendMessage') {
      answer(response, { message_id: bot.nextUpdate, date: 1, chat: { id: 1, type: 'private', first_name: 'Ada' } });
      bot.onSent();
    } else answer(response, true);
  });
}

function onPoll(bot: Bot, response: ServerResponse, timeoutSecs: number): void {
  bot.poll = response;
  bot.onPoll();
  systemTimers.after(timeoutSecs * 1_000, () => {
    if (bot.poll === response) answer(takePoll(bot), []);
  });
}

function updateOf(bot: Bot, id: number): object {
  const updateId = bot.nextUpdate++;
  const person = { id, first_name: 'Ada' };
  const message = { message_id: updateId, date: 1, from: { ...person, is_bot: false }, text: 'Say something.' };
  return { update_id: updateId, message: { ...message, chat: { ...person, type: 'private' } } };
}

function answer(response: ServerResponse, result: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: true, result }));
}

function onModelCall(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/v1/models') {
    const models = { object: 'list', data: [{ id: 'scripted', object: 'model', max_model_len: 1_000_000 }] };
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(models));
  }
  request.resume();
  request.once('end', () => {
    onAsked();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chunk({ content: 'ok' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
}

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'scripted' },
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

serveTasks(tasks);
