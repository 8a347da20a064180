import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { AuthStatus } from '../../state/login.ts';

interface ProviderLoginProps {
  provider: NonNullable<AuthStatus['provider']>;
  /** Where no other form shows it. */
  problem: string | undefined;
}

/** Leads to the provider, which sends the browser back to this page. */
export function ProviderLogin({ provider: { name, url }, problem }: ProviderLoginProps) {
  return (
    <>
      <a class="button primary" href={url}>
        Log in with {toVisibleLine(name)}
      </a>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
