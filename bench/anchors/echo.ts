// A minimal WebSocket server that answers every JSON request with its params.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { listen } from './listen.ts';

const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.on('message', (data) => {
    const { id, params } = JSON.parse(data.toString());
    socket.send(JSON.stringify({ type: 'res', id, ok: true, payload: params }));
  });
});
listen(server);
