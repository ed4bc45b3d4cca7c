/** How to verify a signature, with the Standard Webhooks library of each language, and by hand. */
export interface Snippet {
  language: string;
  install: string;
  code: string;
}

export const SNIPPETS: Snippet[] = [
  {
    language: 'Node.js',
    install: 'npm install standardwebhooks express',
    code: `import express from 'express';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_…
const app = express();

// The raw body: a parsed one no longer has the bytes that were signed.
app.post('/hook', express.raw({ type: 'application/json' }), (req, res) => {
  let event;
  try {
    event = webhook.verify(req.body.toString('utf8'), req.headers);
  } catch {
    return res.sendStatus(400);
  }
  res.sendStatus(204); // answer first, work afterwards
  console.log(event.type, event.data);
});

app.listen(3000);`,
  },
  {
    language: 'Python',
    install: 'pip install standardwebhooks flask',
    code: `import os

from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])  # whsec_…
app = Flask(__name__)


@app.post("/hook")
def hook():
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "", 400
    print(event["type"], event["data"])
    return "", 204`,
  },
  {
    language: 'Go',
    install: 'go get github.com/standard-webhooks/standard-webhooks/libraries/go',
    code: `package main

import (
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET")) // whsec_…
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/hook", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<17))
		if err != nil || webhook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe(":3000", nil))
}`,
  },
  {
    language: 'curl and openssl',
    install: 'Sends your own endpoint a request that is signed like ours, and prints the signature.',
    code: `SECRET=whsec_…  URL=https://example.com/hook
ID=dlvr_by_hand  TIMESTAMP=$(date +%s)
BODY='{"id":"evnt00000000000000000000000000","type":"webhook.test","timestamp":"2026-01-31T08:00:00Z","user_id":"user00000000000000000000000000","data":{}}'

KEY=$(printf %s "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -vtx1 | tr -d ' \\n')
SIGNATURE=v1,$(printf %s "$ID.$TIMESTAMP.$BODY" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)
echo "$SIGNATURE"

curl -i "$URL" -H 'content-type: application/json' -H "webhook-id: $ID" \\
  -H "webhook-timestamp: $TIMESTAMP" -H "webhook-signature: $SIGNATURE" -d "$BODY"`,
  },
];
