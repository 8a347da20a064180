// Starts Swagger UI, which swagger-ui-bundle.js defines before this script runs. The policy of the page allows no inline script.
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  presets: [window.SwaggerUIBundle.presets.apis],
  deepLinking: true,
  docExpansion: 'list',
  // The description of an endpoint is short; long lists of schemas would slow the page down.
  defaultModelsExpandDepth: 0,
  // Otherwise Swagger UI would send the document to a server of its makers.
  validatorUrl: null,
});
