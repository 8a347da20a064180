import { Router } from 'express';
import type { StaticText } from '../encoding.ts';
import { type Answer, type HttpMetrics, type Respond, toEtag } from '../exchange.ts';
import type { EdgeHandler } from '../express-classes.ts';
import { type Page, pageHeaders } from './page.ts';
import { FOREVER, type SiteFiles, sendSiteFile } from './site-files.ts';

interface SiteDeps {
  page: Page;
  openapi: StaticText;
  files: SiteFiles;
  metrics: Pick<HttpMetrics, 'text'>;
  respond: Respond;
}

/** Serves everything that is not an API call: the page, the documents and the metrics. */
export function createSite({ page, openapi, files, metrics, respond }: SiteDeps): Router {
  const site = Router({ caseSensitive: true, strict: true });
  const serve =
    (endpoint: string, answer: Answer): EdgeHandler =>
    (_, { locals: { exchange } }) =>
      respond(Object.assign(exchange, { endpoint }), answer);

  const servePart =
    (endpoint: string): EdgeHandler =>
    (...[req, res, next]) => {
      const part = page.parts.get(res.locals.exchange.path.slice('/static/'.length));
      if (part === undefined) next();
      else serve(endpoint, partAnswer(part))(req, res, next);
    };

  const serveFile =
    (endpoint: string) =>
    async (
      ...[
        ,
        {
          locals: { exchange },
        },
        next,
      ]: Parameters<EdgeHandler>
    ) => {
      const file = await files.find(exchange.path);
      if (file) await sendSiteFile(Object.assign(exchange, { endpoint }), file, respond);
      else next();
    };

  site.get('/', pageHeaders(page), serve('/', staticAnswer(page.html, 'text/html; charset=utf-8')));
  site.get('/licenses.txt', serve('/licenses.txt', staticAnswer(page.licenses, 'text/plain; charset=utf-8')));
  site.get('/openapi.json', serve('/openapi.json', staticAnswer(openapi, 'application/json')));
  // Swagger UI sets styles by scripts only, which the policy does not restrict.
  site.get('/docs', pageHeaders({ scriptSources: OWN_FILES, styleSources: OWN_FILES }), serveFile('/docs'));
  site.get('/static/:file', servePart('/static/{file}'), serveFile('/static/{file}'));
  site.get('/shared/:file', serveFile('/shared/{file}'));
  site.get('/metrics', async (...[req, res, next]: Parameters<EdgeHandler>) =>
    serve('/metrics', metricsAnswer(await metrics.text()))(req, res, next),
  );
  return site;
}

const OWN_FILES = ["'self'"];

/** Clients may cache it, if they revalidate it each time. */
const staticAnswer = ({ text: body, encoded }: StaticText, contentType: string): Answer => ({
  status: 200,
  contentType,
  body,
  known: { encoded, etag: toEtag(body) },
  headers: { 'Cache-Control': 'no-cache' },
});

/** Its name contains its hash. */
const partAnswer = (part: StaticText): Answer => ({
  ...staticAnswer(part, 'text/javascript; charset=utf-8'),
  headers: { 'Cache-Control': FOREVER, 'X-Content-Type-Options': 'nosniff' },
});

const metricsAnswer = (body: string): Answer => ({
  status: 200,
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  body,
});
