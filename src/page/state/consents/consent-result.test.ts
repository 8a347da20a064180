import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONSENT_REFUSALS } from '../../../../protocol/methods/consents/mcp-consent.ts';
import { Arrival } from './arrival.ts';
import { findConsentResult } from './consent-result.ts';

const textOf = (search: string) => findConsentResult(search)?.text;

test('the end of a consent is told in words of ours, and nothing else in an address is', () => {
  assert.deepEqual(findConsentResult('?mcp_oauth_success=my.notes-1'), {
    isProblem: false,
    text: 'You have consented to use the tool server “my.notes-1” with your account.',
  });
  assert.deepEqual(findConsentResult('?mcp_oauth_error=denied'), {
    isProblem: true,
    text: 'No account was connected to the tool server. The provider reports that you refused.',
  });
  assert.deepEqual([textOf(''), textOf('?x=1'), textOf('?oidc_error=denied')], [undefined, undefined, undefined]);
});

test('each reason has its words', () => {
  const texts = CONSENT_REFUSALS.map((reason) => textOf(`?mcp_oauth_error=${reason}`));
  assert.equal(new Set(texts).size, CONSENT_REFUSALS.length);
});

for (const forged of ['<b>x</b>', 'call 555 1234 now', 'a'.repeat(65), '\u202eevil', ''])
  test(`a name that no server can have is not shown: ${JSON.stringify(forged.slice(0, 20))}`, () => {
    const search = `?mcp_oauth_success=${encodeURIComponent(forged)}`;
    assert.equal(textOf(search), 'You have consented to use a tool server with your account.');
  });

test('an unknown reason is not shown', () => {
  for (const reason of ['<b>', 'constructor', ''])
    assert.equal(
      textOf(`?mcp_oauth_error=${encodeURIComponent(reason)}`),
      'No account was connected to the tool server. Try again.',
    );
});

test('it leaves the address when it is read, and leads to the tool servers once', () => {
  const address = { search: '?mcp_oauth_success=notes' };
  const arrival = new Arrival({
    fragment: { read: () => '', clear: () => assert.fail('there is none') },
    search: {
      read: () => address.search,
      clear: () => {
        address.search = '';
      },
    },
  });
  const nothing = { code: undefined, problem: undefined };
  assert.deepEqual([arrival.read(), address.search, arrival.isFromConsent], [nothing, '', true]);
  arrival.shown();
  assert.deepEqual([arrival.read(), arrival.isFromConsent], [nothing, false]);
  assert.match(arrival.consent.value?.text ?? '', /notes/); // the notice stays until the person hides it
});
