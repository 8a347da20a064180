// Answers the first message of each client with HELLO, serialized for each.
import { createServer } from 'node:http';
import process from 'node:process';
import { WebSocketServer } from 'ws';
import { listen } from './listen.ts';

const payload = JSON.parse(process.env.HELLO ?? '{}');
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.once('message', (data) => {
    const { id } = JSON.parse(data.toString());
    socket.send(JSON.stringify({ type: 'res', id, ok: true, payload }));
  });
});
listen(server);
