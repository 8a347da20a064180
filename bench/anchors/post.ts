// Stock Express: one route that only answers, and one that stores a row first. Both require a token.
import { createServer } from 'node:http';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import express from 'express';
import { listen } from './listen.ts';

const { TOKEN, DATABASE = ':memory:' } = process.env;
const database = new DatabaseSync(DATABASE);
database.exec('pragma journal_mode = wal; pragma synchronous = normal');
database.exec('create table messages (id integer primary key, ws_id text, body text)');
const insert = database.prepare('insert into messages (ws_id, body) values (?, ?)');

const app = express();
app.use((request, response, next) => {
  if (request.get('authorization') === `Bearer ${TOKEN}`) next();
  else response.status(401).json({ error: 'Unauthorized' });
});
app.use(express.json());
app.post('/v1/api/approve', (_request, response) => {
  response.json({ status: 'ok' });
});
app.post('/v1/api/send', (request, response) => {
  const { ws_id, message } = request.body;
  const { lastInsertRowid } = insert.run(ws_id, message);
  response.json({ status: 'ok', run_id: `run_${lastInsertRowid}` });
});
listen(createServer(app));
