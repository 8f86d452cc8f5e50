package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"
)

// getOK requests url, with a bearer token unless it is empty, and returns an
// error for any other status than 200.
func getOK(ctx context.Context, client *http.Client, url, token string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("make a request for %s: %w", url, err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	return nil
}

// Healthy returns a check of a health endpoint. The certificate is not verified: each
// program creates its own, and the request contains no secret.
func Healthy(url string) func(context.Context) error {
	client := &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
		},
	}
	return func(ctx context.Context) error { return getOK(ctx, client, url, "") }
}
