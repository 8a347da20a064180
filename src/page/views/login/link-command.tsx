/** How to get a login link, in a terminal. */
export const LinkCommand = () => (
  <>
    <pre class="command">
      <code>headgate link</code>
    </pre>
    <p class="aside">
      In a clone of the repository: <code>npx headgate link</code>
    </p>
  </>
);
