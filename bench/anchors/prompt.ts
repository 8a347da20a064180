// A minimal chat: connects to a WebSocket server, which greets it, and shows a prompt until the terminal closes.
import process from 'node:process';
import { WebSocket } from 'ws';

const socket = new WebSocket(`ws://127.0.0.1:${process.argv[2]}`);
socket.once('open', () => socket.send(JSON.stringify({ type: 'req', id: '1', method: 'connect', params: {} })));
socket.once('message', () => process.stdout.write('› '));
process.stdin.resume();
