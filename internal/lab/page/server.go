package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// Player plays scenarios. Its errors are for the person at the page, unless the context has ended.
type Player interface {
	// Check returns the mistakes that can be found without playing.
	Check(scenario Scenario) []Problem
	Run(ctx context.Context, scenario Scenario) (*Run, error)
	// Golden returns what the hooks were asked, as cases of testdata.
	Golden(ctx context.Context, scenario Scenario) ([]Case, error)
	// Story returns the schedule that operetta explore plays.
	Story(ctx context.Context, scenario Scenario) (string, error)
}

// Case is a call of a hook and its answer.
type Case struct {
	// Step is the one in which it was called first.
	Step int `json:"step"`
	// Name is the path below testdata, as in podset/sync/step-001.
	Name string `json:"name"`
	In   string `json:"in"`
	Out  string `json:"out"`
}

// Start is what the page shows first, and how long a run may take.
type Start struct {
	Program  string   `json:"program"`
	Scenario Scenario `json:"scenario"`
	Seconds  float64  `json:"seconds"`
}

// Sample is something to begin with.
type Sample struct {
	Name  string `json:"name"`
	Files []File `json:"files"`
}

// Options are what a page needs.
type Options struct {
	Player  Player
	Start   Start
	Samples []Sample
	Schemas Schemas
	// Hosts are what the page may be called, as in 127.0.0.1:7654.
	Hosts []string
}

// Limits of a request.
const (
	MaxBody = 1 << 20
	MaxTime = 10 * time.Second
)

type server struct {
	Options
	turn turn
}

// Handler returns the page and what it asks for.
func Handler(options Options) http.Handler {
	options.Start.Seconds = MaxTime.Seconds()
	s := &server{Options: options, turn: turn{slot: make(chan struct{}, 1)}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("GET /play.js", asset("play.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /play.css", asset("play.css", "text/css; charset=utf-8"))
	for path, value := range map[string]any{"GET /start": s.Start, "GET /samples": s.Samples, "GET /schemas": s.Schemas} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { sendJSON(w, r, value) })
	}
	mux.HandleFunc("POST /check", s.posted(func(_ context.Context, scenario Scenario) (any, error) {
		return map[string]any{"problems": append([]Problem{}, s.Player.Check(scenario)...)}, nil
	}))
	mux.HandleFunc("POST /run", s.played(func(ctx context.Context, scenario Scenario) (any, error) {
		return s.Player.Run(ctx, scenario)
	}))
	mux.HandleFunc("POST /golden", s.played(func(ctx context.Context, scenario Scenario) (any, error) {
		cases, err := s.Player.Golden(ctx, scenario)
		return map[string]any{"cases": append([]Case{}, cases...)}, err
	}))
	mux.HandleFunc("POST /story", s.played(func(ctx context.Context, scenario Scenario) (any, error) {
		return s.Player.Story(ctx, scenario)
	}))
	mux.HandleFunc("POST /html", s.played(func(ctx context.Context, scenario Scenario) (any, error) {
		run, err := s.Player.Run(ctx, scenario)
		if err != nil {
			return nil, err
		}
		return HTML(scenario, run)
	}))
	return s.guard(mux)
}

type answerer func(ctx context.Context, scenario Scenario) (any, error)

// posted answers a scenario.
func (s *server) posted(answer answerer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scenario, status, err := read(w, r)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		value, err := answer(r.Context(), scenario)
		switch text, isText := value.(string); {
		case errors.Is(err, errOvertaken):
			http.Error(w, err.Error(), http.StatusTooManyRequests)
		case r.Context().Err() != nil: // nobody waits for it
		case errors.Is(err, context.DeadlineExceeded):
			http.Error(w, fmt.Sprintf("it takes longer than %s: play less at once, or use simulate", MaxTime), http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		case isText:
			send(w, r, "text/plain; charset=utf-8", []byte(text))
		default:
			sendJSON(w, r, value)
		}
	}
}

// played is posted for what plays, one at a time.
func (s *server) played(answer answerer) http.HandlerFunc {
	return s.posted(func(ctx context.Context, scenario Scenario) (any, error) {
		if err := s.turn.take(ctx); err != nil {
			return nil, err
		}
		defer s.turn.done()
		ctx, stop := context.WithTimeout(ctx, MaxTime)
		defer stop()
		return answer(ctx, scenario)
	})
}

func read(w http.ResponseWriter, r *http.Request) (scenario Scenario, status int, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return scenario, http.StatusUnsupportedMediaType, errors.New("a scenario has the Content-Type application/json")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return scenario, http.StatusRequestEntityTooLarge, fmt.Errorf("files and actions have at most %d MiB here: play less at once, or use simulate", MaxBody>>20)
	}
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&scenario)
	}
	if err != nil {
		return scenario, http.StatusBadRequest, fmt.Errorf("that is no scenario: %w", err)
	}
	return scenario, http.StatusOK, nil
}

func sendJSON(w http.ResponseWriter, r *http.Request, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, r, "application/json", text)
}

// send compresses a run, which repeats itself, in little time.
func send(w http.ResponseWriter, r *http.Request, contentType string, text []byte) {
	sendAt(gzip.BestSpeed, w, r, contentType, text)
}

func sendAt(level int, w http.ResponseWriter, r *http.Request, contentType string, text []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Add("Vary", "Accept-Encoding")
	if len(text) < 1<<10 || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(text)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	compressed, _ := gzip.NewWriterLevel(w, level) // the level is one
	_, _ = compressed.Write(text)
	_ = compressed.Close()
}
