import type { Endpoint } from '../../protocol/http/endpoint.ts';

/** What answers a request, and the fields that its path names. */
export interface Found<R> {
  /** The row's path. */
  path: string;
  route: R;
  fields: Readonly<Record<string, string>>;
}

/** Finds the route of a request: by its whole path, which most have, else by the rows whose path names fields. */
export class RouteTable<R> {
  readonly #exact = new Map<string, Found<R>>();
  readonly #named: { verb: string; pattern: RegExp; path: string; route: R }[] = [];

  add({ verb, path }: { verb: Endpoint['verb'] | 'head'; path: string }, route: R): void {
    if (path.includes('{')) {
      const pattern = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
      this.#named.push({ verb: verb.toUpperCase(), pattern, path, route });
      return;
    }
    this.#exact.set(`${verb.toUpperCase()} ${path}`, { path, route, fields: {} });
  }

  find(method: string | undefined, path: string): Found<R> | undefined {
    return this.#exact.get(`${method} ${path}`) ?? this.#findNamed(method, path);
  }

  #findNamed(method: string | undefined, asked: string): Found<R> | undefined {
    for (const { verb, pattern, path, route } of this.#named) {
      const fields = verb === method ? pattern.exec(asked)?.groups : undefined;
      if (fields) return { path, route, fields: { ...fields } };
    }
    return undefined;
  }
}
