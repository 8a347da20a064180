/** A browser without a screen: it keeps cookies by host and follows redirects one by one. */
export class WebVisitor {
  readonly #cookies = new Map<string, Map<string, string>>();
  /** Where it comes from, for a daemon that trusts the proxy. */
  address: string;

  constructor({ address = '10.0.0.1' } = {}) {
    this.address = address;
  }

  cookie(url: string, name: string): string | undefined {
    return this.#jar(url).get(name);
  }

  setCookie(url: string, name: string, value: string): void {
    this.#jar(url).set(name, value);
  }

  /** Deletes the cookies of a host. */
  forget(url: string): void {
    this.#jar(url).clear();
  }

  async get(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.#jar(url);
    const headers = new Headers(init.headers);
    headers.set('x-forwarded-for', this.address);
    headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until `isEnd` accepts the next address, or there is none. Returns that address, or the last one. */
  async follow(start: string, isEnd: (url: string) => boolean, init: RequestInit = {}): Promise<string> {
    let response = await this.get(start, init);
    for (let url = start, hops = 0; hops < 15; hops++) {
      const location = response.headers.get('location');
      await response.body?.cancel();
      if (location === null) return url;
      url = new URL(location, url).href;
      if (isEnd(url)) return url;
      response = await this.get(url);
    }
    throw new Error('too many redirects');
  }

  #jar(url: string): Map<string, string> {
    const { hostname } = new URL(url);
    const jar = this.#cookies.get(hostname) ?? new Map<string, string>();
    this.#cookies.set(hostname, jar);
    return jar;
  }
}
