package processor

import "time"

// least is what is too short to be measured, and for an attack.
const least = 5 * time.Millisecond

// Growth tells how many times as much of a processor one call uses as another, which
// has less to do. It tries up to eight times, until that is no more than enough, and
// takes the least of each: a busy machine can only make it seem more. One call goes
// before, for what is done only once. The error is that of [Time].
func Growth(enough float64, short, long func()) (ratio float64, times [2]time.Duration, err error) {
	short()
	for try := 0; try < 8 && (try == 0 || ratio > enough); try++ {
		for i, call := range []func(){short, long} {
			took, err := Time(call)
			if err != nil {
				return 0, times, err
			}
			if try == 0 || took < times[i] {
				times[i] = took
			}
		}
		ratio = float64(times[1]) / float64(max(times[0], least))
	}
	return ratio, times, nil
}
