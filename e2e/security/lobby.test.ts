import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { launched } from '../support/clients/browser-profiles.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

declare global {
  interface Window {
    attempts: { opened: number; ended: number };
  }
}

const ATTEMPTS = 60;
const FLOOD = 64;

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

/** A page of another site: on the daemon's host, so that the cookie is sent along, but on another port. */
const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>Other</title>'));
site.listen(0, '127.0.0.1');
await once(site, 'listening');
after(() => site.close());
const { port: foreignPort } = site.address() as AddressInfo;

/** Keeps this many sockets open: each one that ends is replaced. */
const flood = (page: Page) =>
  page.evaluate(
    ({ url, count }) => {
      window.attempts = { opened: 0, ended: 0 };
      const open = () => {
        const socket = new WebSocket(url);
        socket.onopen = () => {
          window.attempts.opened += 1;
        };
        socket.onclose = () => {
          window.attempts.ended += 1;
          open();
        };
      };
      for (let n = 0; n < count; n += 1) open();
    },
    { url: `${daemon.wsUrl}/v1/ws`, count: FLOOD },
  );

/** Waits until the page has made as many attempts as there are places for unauthenticated sockets. */
const hasTriedOften = (page: Page) =>
  page.waitForFunction(() => window.attempts.opened + window.attempts.ended >= 32, undefined, { timeout: 60_000 });

/** The results of the daemon's own page for consecutive sockets: hello-ok, or a close. */
const connectFromPage = (page: Page, count: number) =>
  page.evaluate(
    async ({ url, connect, times }) => {
      const answers: string[] = [];
      for (let n = 0; n < times; n += 1) {
        const { promise, resolve } = Promise.withResolvers<string>();
        const socket = new WebSocket(url);
        socket.onopen = () => socket.send(connect);
        socket.onmessage = ({ data }) => resolve(JSON.parse(data).ok === true ? 'served' : String(data));
        socket.onclose = ({ code }) => resolve(`closed with ${code}`);
        answers.push(await promise);
        socket.close();
      }
      return answers;
    },
    {
      url: `${daemon.wsUrl}/v1/ws`,
      connect: JSON.stringify({ type: 'req', id: '1', method: 'connect', params: CONNECT }),
      times: count,
    },
  );

/** The same for a program, whose token comes after the upgrade. */
async function connectAsProgram(): Promise<string> {
  const client = await openClient(`${daemon.wsUrl}/v1/ws`, {}).catch(String);
  if (typeof client === 'string') return client;
  const { ok } = await client.request('connect', { ...CONNECT, auth: { token: daemon.token } });
  client.socket.close();
  return ok ? 'served' : 'refused';
}

async function openPage(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  return page;
}

test('pages of other sites that keep opening WebSockets all fail, and none of 60 allowed attempts is refused', async () => {
  const context = await (await launched()).newContext();
  await context.request.post(new URL('/v1/api/auth/login', daemon.url).href, { data: { token: daemon.token } });
  const own = await openPage(context, daemon.url);
  const foreign = await Promise.all(
    ['127.0.0.1', 'localhost'].map((host) => openPage(context, `http://${host}:${foreignPort}`)),
  );
  await Promise.all(foreign.map(flood));
  await Promise.all(foreign.map(hasTriedOften));

  const byProgram: string[] = [];
  const programs = async () => {
    for (let n = 0; n < ATTEMPTS / 2; n += 1) byProgram.push(await connectAsProgram());
  };
  const [byPage] = await Promise.all([connectFromPage(own, ATTEMPTS / 2), programs()]);
  const opened = await Promise.all(foreign.map((page) => page.evaluate(() => window.attempts.opened)));
  await context.close();
  assert.deepEqual(
    {
      refused: [...byPage, ...byProgram].filter((answer) => answer !== 'served'),
      served: byPage.length + byProgram.length,
    },
    { refused: [], served: ATTEMPTS },
  );
  assert.deepEqual(opened, [0, 0]);
});
