import express, { type ErrorRequestHandler, type Express } from 'express';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { StaticText } from './encoding.ts';
import { type Answer, type HttpMetrics, type Respond, toEtag } from './exchange.ts';
import { type Page, pageHeaders } from './page.ts';
import { fail } from './serve.ts';

interface SiteDeps {
  page: Page;
  openapi: StaticText;
  metrics: Pick<HttpMetrics, 'text'>;
  respond: Respond;
  clock: Clock;
  log: Log;
}

/** What is not an API call: the page, the documents, the metrics, and `Not found` for all else. */
export function createSite({ page, openapi, metrics, respond, clock, log }: SiteDeps): Express {
  const site = express();
  site.disable('x-powered-by');
  site.enable('case sensitive routing');
  site.enable('strict routing');
  const html = staticAnswer(page.html, 'text/html; charset=utf-8');
  const licenses = staticAnswer(page.licenses, 'text/plain; charset=utf-8');
  const document = staticAnswer(openapi, 'application/json');
  const exchangeOf = (req: express.Request, res: express.Response, endpoint: string) => ({
    ...{ req, res, endpoint },
    query: '',
    fields: {},
    startedMs: clock.monotonic(),
  });

  site.get('/', pageHeaders(page), (req, res) => respond(exchangeOf(req, res, '/'), html));
  site.get('/licenses.txt', (req, res) => respond(exchangeOf(req, res, '/licenses.txt'), licenses));
  site.get('/openapi.json', (req, res) => respond(exchangeOf(req, res, '/openapi.json'), document));
  site.get('/metrics', async (req, res) =>
    respond(exchangeOf(req, res, '/metrics'), metricsAnswer(await metrics.text())),
  );
  site.use((req, res) => respond(exchangeOf(req, res, 'other'), NOT_FOUND));
  // biome-ignore lint/complexity/useMaxParams: express knows an error handler by its four parameters.
  site.use(((error, req, res, _next) =>
    fail(exchangeOf(req, res, 'other'), error, { respond, log })) satisfies ErrorRequestHandler);
  return site;
}

const NOT_FOUND: Answer = { status: 404, contentType: 'text/plain; charset=utf-8', body: 'Not found' };

/** Anybody may keep it, if they ask each time whether it is still the same. */
const staticAnswer = ({ text: body, encoded }: StaticText, contentType: string): Answer => ({
  status: 200,
  contentType,
  body,
  known: { encoded, etag: toEtag(body) },
  headers: { 'Cache-Control': 'no-cache' },
});

const metricsAnswer = (body: string): Answer => ({
  status: 200,
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  body,
});
