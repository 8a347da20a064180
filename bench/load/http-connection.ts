import { connect, type Socket } from 'node:net';

/** One keep-alive HTTP connection for one request at a time, written by hand for the same reason as LeanSocket. */
export class HttpConnection {
  readonly #socket: Socket;
  #received = '';
  #onAnswer: PromiseWithResolvers<string> | undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1').on('data', (text: string) => this.#take(text));
    this.#socket.on('error', (error) => this.#onAnswer?.reject(error));
    this.#socket.on('close', () => this.#onAnswer?.reject(new Error('the server closed the connection')));
  }

  /** Resolves with the body; any status except 200 is an error. */
  send(request: string | Buffer): Promise<string> {
    this.#onAnswer = Promise.withResolvers<string>();
    this.#socket.write(request);
    return this.#onAnswer.promise;
  }

  close(): void {
    this.#onAnswer = undefined;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const bodyAt = this.#received.indexOf('\r\n\r\n') + 4;
    if (bodyAt === 3) return;
    const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(this.#received) ?? [];
    if (this.#received.length < bodyAt + Number(length)) return;
    const answer = this.#received;
    this.#received = '';
    const waiting = this.#onAnswer;
    if (answer.startsWith('HTTP/1.1 200')) waiting?.resolve(answer.slice(bodyAt));
    else waiting?.reject(new Error(answer));
  }
}

/** The text of a POST with a JSON body. */
export function postText(path: string, body: object, token?: string): string {
  const json = JSON.stringify(body);
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

export function getText(path: string, token?: string): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}Accept: text/event-stream\r\n\r\n`;
}
