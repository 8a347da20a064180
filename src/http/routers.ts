import { Router } from 'express';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import type { Exchange } from './exchange.ts';
import type { EdgeHandler } from './express-classes.ts';

/** A row with all that answers its requests. */
export interface Served {
  endpoint: Endpoint;
  serve(exchange: Exchange): void;
}

/** Finds the Router whose rows begin like a path. */
export type FindRouter = (path: string) => Router | undefined;

/**
 * One Router per noun, which is the first segment of a path (below /v1/api, of what follows). They are found by it and not
 * mounted: Express would try one prefix after the other, and more of them with every noun.
 */
export function createRouters(rows: readonly Served[]): FindRouter {
  const routers = new Map<string, Router>();
  for (const { endpoint, serve } of rows.toSorted((a, b) => bySpecificity(a.endpoint.path, b.endpoint.path))) {
    const noun = nounOf(endpoint.path);
    if (noun.includes('{')) throw new Error(`the path of a row begins with a noun: ${endpoint.path}`);
    const router = routers.get(noun) ?? Router({ caseSensitive: true, strict: true });
    routers.set(noun, router);
    router[endpoint.verb](toPattern(endpoint.path), handlerOf({ endpoint, serve }));
  }
  return (path) => routers.get(nounOf(path));
}

const API = '/v1/api/';

/** The beginning of a path, up to the slash behind its noun. */
function nounOf(path: string): string {
  const end = path.indexOf('/', path.startsWith(API) ? API.length : 1);
  return end === -1 ? path : path.slice(0, end);
}

/** A path that says more comes first: /jobs/due before /jobs/{id}, and that before /jobs/{+rest}. */
function bySpecificity(one: string, other: string): number {
  const [ranks = [], others = []] = [one, other].map((path) => path.split('/').map(openness));
  for (const [at, rank] of ranks.entries()) {
    const difference = rank - (others[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const openness = (segment: string): number => (segment.startsWith('{+') ? 2 : segment.includes('{') ? 1 : 0);

/** As path-to-regexp writes it. */
const toPattern = (path: string): string => path.replaceAll(/\{\+(\w+)\}/g, '*$1').replaceAll(/\{(\w+)\}/g, ':$1');

function handlerOf({ endpoint, serve }: Served): EdgeHandler {
  const { path, answers } = endpoint;
  const hasFields = path.includes('{');
  return (req, res, next) => {
    // Express gives a HEAD to what answers GET. A stream has no end, and a file is not read for nothing.
    if (answers !== undefined && req.method === 'HEAD') return next();
    const { exchange } = res.locals;
    exchange.endpoint = path;
    if (hasFields) exchange.fields = toFields(req.params);
    serve(exchange);
  };
}

/** What is matched with its slashes comes in segments. */
const toFields = (params: Readonly<Record<string, string | string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, [value].flat().join('/')]));
