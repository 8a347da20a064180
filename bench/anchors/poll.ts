// A minimal bot: it polls API_ROOT, stores each update in a row that is synced to disk, asks MODEL_URL and sends the answer.
import { createServer } from 'node:http';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { listen } from './listen.ts';

const { API_ROOT = '', TOKEN = '', MODEL_URL = '', DATABASE = ':memory:' } = process.env;
const database = new DatabaseSync(DATABASE);
database.exec('pragma journal_mode = wal; pragma synchronous = full');
database.exec('create table updates (update_id integer primary key, body text)');
const insert = database.prepare('insert into updates values (?, ?) on conflict do nothing');

interface Update {
  update_id: number;
  message: { chat: { id: number }; text: string };
}

const post = (url: string, body: object): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

async function answer({ message }: Update): Promise<void> {
  const messages = [{ role: 'user', content: message.text }];
  const said = await (await post(`${MODEL_URL}/chat/completions`, { stream: true, messages })).text();
  const text = [...said.matchAll(/"content":"([^"]*)"/g)].map(([, part]) => part).join('');
  await (await post(`${API_ROOT}/bot${TOKEN}/sendMessage`, { chat_id: message.chat.id, text })).text();
}

async function poll(): Promise<never> {
  for (let offset = 0; ; ) {
    const response = await post(`${API_ROOT}/bot${TOKEN}/getUpdates`, { timeout: 50, offset });
    const { result }: { result: Update[] } = await response.json();
    for (const update of result) {
      insert.run(update.update_id, JSON.stringify(update));
      offset = update.update_id + 1;
      void answer(update);
    }
  }
}

void poll();
listen(createServer());
